"""Markdown that Markmap shows as the map it was: a heading for the centre, nested lists below.

* The front matter says that it is for Markmap; elsewhere it is passed over.
* A topic with a link is that link; any further ones follow with nothing to click on, so that they
  are kept without being in the text. Blanks in addresses become ``%20``.
* A note is a paragraph below its topic, without formatting.
* Line ends inside a topic or note are ``<br>``. Lines of their own would need to be indented,
  and a note of many lines in a deep map would fill more memory than there is.
* Several sheets hang from a topic that names them: a page has one main heading.

Markdown has no place for ids or for what is known of the map as a whole.
"""

import re
from typing import Final

from mapshelf.model import Outline, Topic
from mapshelf.writers.nesting import under_one_root
from mapshelf.writers.plain import one_line, sound

_FRONT_MATTER: Final = "---\nmarkmap:\n  colorFreezeLevel: 2\n---\n\n"

_SIGNS: Final = re.compile(
    r"[\\`*_\[\]~$|^]"  # wherever they stand
    r"|=(?==)|\+(?=\+)"  # in pairs: marked and inserted text
    r"|#(?=\s*\Z)"  # at the end of a heading
    r"|\A[-+=#>]"  # at the beginning: lists, headings, quotations
)
_NUMBER: Final = re.compile(r"\A(\d{1,9})([.)])")
_AMPERSAND: Final = re.compile("&(?=[#A-Za-z])")
_ADDRESS_SIGNS: Final = re.compile(r"[\\()\[\]&*_~`]")
_LONGEST_LABEL: Final = 1000
"""Characters of a text that is made a link as a whole; programs give up on very long ones."""


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
    # An item with nothing on its line would end there, and not have its note.
    text = _escaped(topic.text) or "&nbsp;"
    addresses = [_address(link) for link in topic.links]
    if addresses and len(text) <= _LONGEST_LABEL:
        text = f"[{text}]({addresses.pop(0)})"
    return " ".join((text, *(f"[]({address})" for address in addresses)))


def _escaped(text: str) -> str:
    text = _SIGNS.sub(r"\\\g<0>", sound(text).strip())
    text = _NUMBER.sub(r"\1\\\2", text)
    # As entities, because some programs look for tags and comments before anything else.
    return _AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace("\n", "<br>")


def _address(link: str) -> str:
    address = one_line(link).replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    return _ADDRESS_SIGNS.sub(r"\\\g<0>", address)
