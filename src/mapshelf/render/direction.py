"""Detect maps in right-to-left scripts, whose drawings are mirrored.

The first strong character decides, as in the Unicode bidirectional algorithm (UAX 9), but by a
majority of the topics near the centre: many maps in Arabic or Hebrew have an English title.
"""

import unicodedata
from itertools import islice
from typing import Final

from mapshelf.model import Topic

_TOPICS: Final = 200  # examined in a map
_SAMPLE: Final = 200  # characters examined of each

LEFTWARDS: Final = ("\u202b", "\u202c")
"""Control characters around a line that reads from right to left as a whole."""


def reads_leftwards(root: Topic) -> bool:
    """Return whether most topics of a map start in a script written from right to left."""
    asked = islice(_by_level(root), _TOPICS)
    directions = [first_direction(topic.text) for topic in asked]
    return directions.count("R") > directions.count("L")


def first_direction(text: str) -> str:
    """Return "L" or "R" for the first character with a direction, "" if there is none."""
    for character in text[:_SAMPLE]:
        match unicodedata.bidirectional(character):
            case "L":
                return "L"
            case "R" | "AL":
                return "R"
    return ""


def _by_level(root: Topic) -> list[Topic]:
    """Return the topics nearest the centre."""
    found = [root]
    for topic in found:
        if len(found) >= _TOPICS:
            break
        found.extend(topic.children[:_TOPICS])
    return found
