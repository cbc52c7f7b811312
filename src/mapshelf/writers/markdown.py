"""Markdown that Markmap shows as the same map: a heading for the centre, nested lists below.

* The front matter marks it as a Markmap file; other programs ignore it.
* A topic with a link is a Markdown link. Further links follow with an empty text, so that they are
  kept without being in the text. Spaces in URLs become ``%20``.
* A note is a paragraph below its topic, without formatting.
* Line ends inside a topic or note are ``<br>``. Separate lines would have to be indented, and a
  note of many lines in a deep map would take too much memory.
* Several sheets are attached to a topic that names them: a page has one main heading.

Markdown has no place for ids, or for facts about the whole map.
"""

import re
from typing import Final

from mapshelf.model import Outline, Topic
from mapshelf.writers.nesting import under_one_root
from mapshelf.writers.plain import one_line, sound

_FRONT_MATTER: Final = "---\nmarkmap:\n  colorFreezeLevel: 2\n---\n\n"

_SIGNS: Final = re.compile(
    r"[\\`*_\[\]~$|^]"  # anywhere
    r"|=(?==)|\+(?=\+)"  # in pairs: marked and inserted text
    r"|#(?=\s*\Z)"  # at the end of a heading
    r"|\A[-+=#>]"  # at the beginning: lists, headings, quotations
)
_NUMBER: Final = re.compile(r"\A(\d{1,9})([.)])")
_AMPERSAND: Final = re.compile("&(?=[#A-Za-z])")
_ADDRESS_SIGNS: Final = re.compile(r"[\\()\[\]&*_~`]")
_LONGEST_LABEL: Final = 1000
"""Maximum of characters of a text that becomes a link; programs fail on very long ones."""


def write(outline: Outline) -> bytes:
    """Return ``outline`` as Markdown in UTF-8."""
    pieces = [_FRONT_MATTER]
    for depth, topic in under_one_root(outline).walk():
        indent = "  " * (depth - 1)
        pieces.append(f"{indent}- {_label(topic)}\n" if depth else f"# {_label(topic)}\n\n")
        note = _escaped(topic.note)
        if note:
            pieces.append(f"\n{indent}  {note}\n\n" if depth else f"{note}\n\n")
    return "".join(pieces).encode()


def _label(topic: Topic) -> str:
    # An empty item would end there, and its note would not belong to it.
    text = _escaped(topic.text) or "&nbsp;"
    addresses = [_address(link) for link in topic.links]
    if addresses and len(text) <= _LONGEST_LABEL:
        text = f"[{text}]({addresses.pop(0)})"
    return " ".join((text, *(f"[]({address})" for address in addresses)))


def _escaped(text: str) -> str:
    text = _SIGNS.sub(r"\\\g<0>", sound(text).strip())
    text = _NUMBER.sub(r"\1\\\2", text)
    # As entities, because some programs find tags and comments before anything else.
    return _AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace("\n", "<br>")


def _address(link: str) -> str:
    address = one_line(link).replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    return _ADDRESS_SIGNS.sub(r"\\\g<0>", address)
