"""Which way the people who wrote a map read: the picture is mirrored for those who read leftwards.

The first strong characters decide, as in the Unicode bidirectional algorithm (UAX 9), but by
majority over the topics near the centre: many maps in Arabic or Hebrew have an English name in the
middle.
"""

import unicodedata
from itertools import islice
from typing import Final

from mapshelf.model import Topic

_TOPICS: Final = 200
"""How many topics are asked."""

_SAMPLE: Final = 200
"""Characters of each that are looked at."""

LEFTWARDS: Final = ("\u202b", "\u202c")
"""What a line is put between that is to be read from right to left as a whole."""


def reads_leftwards(root: Topic) -> bool:
    """Tell whether most topics of a map begin in a script written from right to left."""
    asked = islice(_by_level(root), _TOPICS)
    directions = [first_direction(topic.text) for topic in asked]
    return directions.count("R") > directions.count("L")


def first_direction(text: str) -> str:
    """Return "L" or "R" after the first letter that has a direction, "" if none has one."""
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
