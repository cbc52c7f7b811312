"""Number topics as Freeplane does, which stores only whether a node is numbered.

A number is the place of a node among its numbered siblings. It follows the number of the parent and
a dot, if the parent has one: ``2.1``. The central topic has no number. Topics in a summary continue
the number of the node that the brace is at, because the node of the brace itself does not count.
"""

from collections.abc import Iterable
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.readers.formats.freemind_groups import is_brace
from mapshelf.readers.formats.freemind_styles import Styles

_LONGEST: Final = 60
"""Maximum characters of a number. Deeper topics have none: long numbers on every topic of a deep
map would take more memory than the map itself."""


def numbers_of(centres: Iterable[Element], styles: Styles) -> dict[Element, str]:
    """Return the numbers of the nodes that have one."""
    numbers: dict[Element, str] = {}
    pending = [(node, "") for node in centres]
    while pending:
        parent, prefix = pending.pop()
        count = 0
        for child in parent.findall("node"):
            inner = prefix if is_brace(child) else ""
            if styles.is_numbered(child):
                count += 1
                number = f"{prefix}{count}"
                if len(number) <= _LONGEST:
                    numbers[child] = number
                    inner = inner or f"{number}."
            pending.append((child, inner))
    return numbers
