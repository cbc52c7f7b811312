"""Mermaid's mind map: the word ``mindmap``, then a line for each topic, indented by its level.

Every text is in quotation marks, inside which Mermaid accepts all characters but its own signs;
these are written as numbered entities. Its grammar requires a text in every topic, and one central
topic: several sheets are attached to one that names them, floating topics to the central one, and
summaries follow what they sum up. The format has no place for ids, notes, links or anything else.
"""

import re
from typing import Final

from mapshelf.model import Outline
from mapshelf.writers.nesting import under_one_root
from mapshelf.writers.plain import sound

_SIGNS: Final = re.compile(r"""["#%&<>`\\*_~]|\A[-+]|(?<=\A\d)[.)]|(?<=\A\d\d)[.)]""")
"""Characters with a meaning. The last three begin lists, which newer versions refuse in a label."""

_STYLE: Final = re.compile("style|classDef")


def write(outline: Outline) -> bytes:
    """Return ``outline`` as a Mermaid diagram in UTF-8."""
    lines = ["mindmap\n"]
    for depth, topic in under_one_root(outline).walk():
        lines.append(f'{" " * (depth + 1)}["{_escaped(topic.text or topic.formula) or " "}"]\n')
    return "".join(lines).encode()


def _escaped(text: str) -> str:
    text = _SIGNS.sub(_entity, sound(text).strip())
    if _STYLE.search(text):
        # Mermaid searches the whole diagram for styles, and cuts off the end of an entity that
        # follows something like a style.
        text = text.replace(":", "#58;")
    return text.replace("\n", "<br/>")


def _entity(sign: re.Match[str]) -> str:
    return f"#{ord(sign[0])};"
