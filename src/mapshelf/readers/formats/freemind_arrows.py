"""Read the shapes of arrows: where they have heads, and straight arrows that point to a place.

A straight arrow from a topic of Freeplane to itself ends at a place on the canvas. Authors use it
to point to anything: a line, an icon, a part of another topic. The inclination is the way from the
edge of the topic to that place, mirrored on the left of the central topic.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Relationship

_INCLINATION: Final = re.compile(
    r"\s*(-?\d{1,6}(?:\.\d{1,20})?)[ a-z]*;\s*(-?\d{1,6}(?:\.\d{1,20})?)", re.ASCII
)
_HEADS: Final = {(False, False): "none", (True, False): "start", (True, True): "both"}


def heads_of(arrow: Element) -> str:
    """Return where an arrow has heads."""
    start = arrow.get("STARTARROW", "None").upper() != "NONE"
    end = arrow.get("ENDARROW", "Default").upper() != "NONE"
    return _HEADS.get((start, end), "end")


def point_of(arrow: Element, topic_id: str) -> tuple[float, float] | None:
    """Return the place that an arrow of a topic points to, ``None`` if that is a topic.

    It is that of a topic on the right (see ``mirrored``).
    """
    if arrow.get("SHAPE") != "LINE" or arrow.get("DESTINATION") != topic_id:
        return None
    found = _INCLINATION.match(arrow.get("STARTINCLINATION", ""))
    return (float(found[1]), float(found[2])) if found else None


def mirrored(arrows: Iterable[Relationship], centres: Iterable[Element]) -> Iterator[Relationship]:
    """Yield arrows with the places that those on the left of the central topic point to."""
    mains = (main for centre in centres for main in centre.iterfind("node"))
    lefts = (main for main in mains if main.get("POSITION", "").endswith("left"))
    left = {node.get("ID") for main in lefts for node in main.iter("node")}
    for arrow in arrows:
        if arrow.point and arrow.start in left:
            yield arrow._replace(point=(-arrow.point[0], arrow.point[1]))
        else:
            yield arrow
