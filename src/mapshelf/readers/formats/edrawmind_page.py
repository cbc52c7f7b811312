"""Read a page of EdrawMind: a list of shapes, about half of which are topics.

* A topic refers to its parent (``Super``) and, in order, its children (``SubLevel``); a callout
  refers to its topic in ``Data``. Topics without a parent are floating topics.
* Lines between topics are shapes (``MMConnector``) with the colour of the branch. Arrows between
  arbitrary topics are shapes, too (``RelatConnector``); until the author changes their text, it is
  "Label" in the language of the program.
* A ``Summary`` is a brace around siblings; its text is in a topic of the type ``SummaryTopic``.
  Either the brace refers to the topic, or the topic to the brace.
* Positions are absolute, and mostly from automatic layout. So only those of floating topics are
  used, and the sides of main topics.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import Boundary, Image, Relationship, Topic, TopicKind
from mapshelf.readers.formats.edrawmind_topic import complete, value, words
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.flat_tree import Member, joined
from mapshelf.readers.parsing.images import Images
from mapshelf.readers.parsing.places import Place, moved, side_of
from mapshelf.readers.parsing.topic_tree import reference
from mapshelf.readers.parsing.zip_files import Archive

__all__ = ["Drawing", "Media", "drawing", "value"]

_CENTRE: Final = "MainIdea"
_TOPICS: Final = ("Idea", "Topic")
_CONNECTOR: Final = "Connector"
_LINE: Final = "MMConnector"
_ARROW: Final = "RelatConnector"
_SUMMARY: Final = "SummaryTopic"
_CALLOUT: Final = "Callout"
_MORE_TOPICS: Final = frozenset({_CALLOUT, "Floating"})
_AROUND: Final = frozenset({"Boundary", "Summary"})


@dataclass(frozen=True, slots=True)
class Drawing:
    """A page, with trees that are not yet counted and cleaned.

    Attributes:
        trees: the central topic, the floating topics, and the summary topics; empty if the page has
            no topics.
        summed: for each summary topic, which are the last of ``trees``, the ids of its topics.
        title, relationships, boundaries, background: as in ``Sheet``.
    """

    trees: tuple[Topic, ...]
    summed: tuple[tuple[str, ...], ...] = ()
    title: str = ""
    relationships: tuple[Relationship, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    background: str = ""


class Media:
    """The images of a page, by their names on the page."""

    def __init__(self, images: Images, archive: Archive, targets: Mapping[str, str]) -> None:
        self._images = images
        self._archive = archive
        self._targets = targets

    def image(self, name: str, width: float = 0.0, height: float = 0.0) -> Image:
        """Return the image with this name."""
        member = self._targets.get(name, "")
        data = None
        if member in self._archive.names:
            try:
                data = self._archive.read(member)
            except UnreadableFile:
                data = None
        return self._images.add(data, width, height, member.rpartition("/")[2])


def drawing(page: Element, media: Media, prefix: str) -> Drawing:
    """Return the content of a page.

    Args:
        page: its root element.
        media: its images.
        prefix: prefix for the ids of its topics.
    """
    shapes = page.findall("Shape")
    lines = {_id(shape): shape for shape in shapes if shape.get("Type") == _LINE}
    topics = dict(_topics(shapes))
    summed = _summed(shapes, topics)
    members: dict[str, Member] = {}
    for key, shape in topics.items():
        topic = _topic(shape, prefix)
        complete(topic, shape, lines.get(value(shape, "LevelData/ToSuper")), media.image)
        parent = "" if key in summed else _parent(shape)
        members[key] = Member(topic, parent, value(shape, "LevelData/SubLevel").split(";"))
    roots = joined(members)
    keys = {id(member.topic): key for key, member in members.items()}
    apart = [root for root in roots[1:] if keys[id(root)] in summed]
    trees = [*roots[:1], *(root for root in roots[1:] if keys[id(root)] not in summed)]
    _arrange(trees, {id(member.topic): topics[key] for key, member in members.items()})
    return Drawing(
        (*trees, *apart),
        tuple(_ids(summed[keys[id(root)]], prefix) for root in apart),
        page.get("Name", ""),
        tuple(_arrow(shape, prefix) for shape in shapes if shape.get("Type") == _ARROW),
        tuple(_boundary(shape, prefix) for shape in shapes if shape.get("Type") == "Boundary"),
        _fill(page),
    )


def _id(shape: Element) -> str:
    return shape.get("ID", "")


def _ids(names: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    return tuple(reference(prefix + name) for name in names)


def _topics(shapes: list[Element]) -> Iterator[tuple[str, Element]]:
    """Yield the keys and shapes of all topics, the central one first."""
    found = [shape for shape in shapes if _is_topic(shape)]
    # In the file, the central topic follows its connecting lines.
    found.sort(key=lambda shape: shape.get("Type") != _CENTRE)
    for position, shape in enumerate(found):
        yield _id(shape) or f"#{position}", shape


def _is_topic(shape: Element) -> bool:
    kind = shape.get("Type", "")
    if kind.endswith(_CONNECTOR) or kind in _AROUND:
        return False
    return kind.endswith(_TOPICS) or kind in _MORE_TOPICS or bool(words(shape.find("Text")).strip())


def _topic(shape: Element, prefix: str) -> Topic:
    identifier = reference(prefix + _id(shape)) if _id(shape) else ""
    kind = TopicKind.CALLOUT if shape.get("Type") == _CALLOUT else TopicKind.ATTACHED
    return Topic(words(shape.find("Text")), id=identifier, kind=kind)


def _parent(shape: Element) -> str:
    return value(shape, "LevelData/Super") or value(shape, "Data")


# --- Outside the tree --------------------------------------------------------------------------


def _summed(shapes: list[Element], topics: Mapping[str, Element]) -> dict[str, tuple[str, ...]]:
    """Return the summary topics, each with the ids of the topics it summarises."""
    braces = {_id(shape): shape for shape in shapes if shape.get("Type") == "Summary"}
    named = {
        part.get("V", ""): name
        for name, brace in braces.items()
        for path in ("LevelData/SubLevel", "*/Topic", "Data")
        for part in brace.iterfind(path)
    }
    found: dict[str, tuple[str, ...]] = {}
    for key, shape in topics.items():
        if shape.get("Type") != _SUMMARY:
            continue
        above = value(shape, "LevelData/Super")
        names = (above, value(shape, "Data"), named.get(key, ""))
        # A brace has one summary topic. One that finds no brace covers only its parent.
        brace = next((braces.pop(name) for name in names if name in braces), None)
        found[key] = _around(brace) if brace is not None else (above,)
    return found


def _around(shape: Element) -> tuple[str, ...]:
    """Return the ids of the topics that a brace or boundary encloses."""
    part = shape.find("*/Shapes")
    return tuple(filter(None, (part.get("V", "") if part is not None else "").split(";")))


def _arrow(shape: Element, prefix: str) -> Relationship:
    ends = shape.find("ConnectMap")
    start, end = (ends.get("From", ""), ends.get("To", "")) if ends is not None else ("", "")
    changed = any(
        "TextChanged" in part.attrib or part.tag == "TextChanged" for part in shape.iter()
    )
    return Relationship(
        reference(prefix + start),
        reference(prefix + end),
        words(shape.find("Text")) if changed else "",
        _line(shape),
    )


def _boundary(shape: Element, prefix: str) -> Boundary:
    return Boundary(_ids(_around(shape), prefix), words(shape.find("Text")), _line(shape))


def _line(shape: Element) -> str:
    return colour(value(shape, "ShapeFormat/LineFormat/LineFill/Color"), alpha_first=True)


def _fill(page: Element) -> str:
    fill = page.find("FillFormat[@Type='Solid']")
    return colour(value(fill, "Color"), alpha_first=True) if fill is not None else ""


def _arrange(trees: list[Topic], shapes: Mapping[int, Element]) -> None:
    """Set the sides of main topics and the positions of floating ones."""
    centre = _middle(shapes[id(trees[0])]) if trees else None
    if centre is None:
        return
    for topic in trees[0].children:
        if at := _middle(shapes[id(topic)]):
            topic.side = side_of(at[0] - centre[0])
    for topic in trees[1:]:
        if at := _middle(shapes[id(topic)]):
            topic.position = moved(at, centre, -1)


def _middle(shape: Element) -> Place | None:
    try:
        return float(value(shape, "Transform/CX")), float(value(shape, "Transform/CY"))
    except ValueError:
        return None
