"""Convert a formula to safe MathML, for the accessible outline.

latex2mathml accepts arbitrary attributes from LaTeX: links, styles, colours. Only allowlisted
elements and attributes are written, so that a formula cannot inject anything into a page.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final
from unicodedata import lookup
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

from mapshelf.render.formula_source import plain_latex
from mapshelf.writers.markup import attribute, escaped
from mapshelf.writers.plain import sound

ELEMENTS: Final = frozenset(
    {"math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle"}
    | {"msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd"}
    | {"mpadded", "mphantom"}
)
"""Elements that are written; of others, only what is in them."""

_LENGTH: Final = re.compile(r"[+-]?\d{0,2}(?:\.\d{1,4})?(?:em|ex|pt|px|mu)?")
_WORD: Final = re.compile(r"[a-z-]{1,20}(?: [a-z-]{1,20}){0,30}")
_NUMBER: Final = re.compile(r"[+-]?\d")

ATTRIBUTES: Final = {
    **dict.fromkeys(("display", "displaystyle", "form", "mathvariant"), _WORD),
    **dict.fromkeys(("accent", "accentunder", "fence", "separator", "stretchy"), _WORD),
    **dict.fromkeys(("symmetric", "largeop", "movablelimits", "columnalign"), _WORD),
    **dict.fromkeys(("lspace", "rspace", "minsize", "maxsize", "width", "height"), _LENGTH),
    **dict.fromkeys(("depth", "voffset", "linethickness"), _LENGTH),
    "scriptlevel": _NUMBER,
}
"""Attributes that are written, and what they may be. No lengths of hundreds of letters."""

_DEEPEST: Final = 150
"""Levels of elements; browsers nest up to 512."""

LARGEST: Final = 65_536
"""Characters that are made of a formula."""


_TABLES: Final = {
    **dict.fromkeys(("aligned", "alignedat", "alignat*", "eqnarray*", "flalign*"), "align*"),
    **dict.fromkeys(("gather*", "gathered", "multline*", "multlined"), "matrix"),
}
"""Tables of LaTeX by those that latex2mathml knows, which look alike."""

_TABLE: Final = re.compile(
    r"\\(begin|end)\{(" + "|".join(map(re.escape, _TABLES)) + r")\}(?:\{\d\})?"
)
_COMMAND: Final = re.compile(r"\\[A-Za-z]+")


class _NotWritten(Exception):
    """What is made of a formula is too deep, or has a command that is not known."""


def written(formula: str) -> tuple[str | None, int]:
    """Return a formula as MathML with its LaTeX as alternative text, and the work for it.

    If that fails, it is ``None``.
    """
    try:
        whole = convert_to_element(_known(plain_latex(formula)), display="block")
        inside = "".join(piece for child in whole for piece in _elements(child, 1))
    except Exception:  # it fails in many ways, all of them for what is no LaTeX
        return None, 0
    if not inside or len(inside) > LARGEST:
        return None, len(inside)
    # In the line of other words, but as large as on a line of its own.
    made = f'<math displaystyle="true"{attribute("alttext", formula)}>{inside}</math>'
    return made, len(made)


def _known(source: str) -> str:
    return _TABLE.sub(lambda found: f"\\{found[1]}{{{_TABLES[found[2]]}}}", source)


def _elements(element: Element, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise _NotWritten
    known = element.tag in ELEMENTS - {"math"}
    if known:
        yield f"<{element.tag}{''.join(_attributes(element))}>"
    if element.text:
        text = unescape(element.text)
        yield escaped(_words(text) if element.tag == "mtext" else _name(text))
    for child in element:
        yield from _elements(child, depth + 1)
    if known:
        yield f"</{element.tag}>"


def _words(text: str) -> str:
    """Return text without the commands that latex2mathml leaves in it."""
    return _SIGNS.sub(lambda found: _MEANT.get(found[0].strip(), found[1] or " "), sound(text))


def _name(text: str) -> str:
    """Return the name of a variable; latex2mathml takes a command that it does not know for one."""
    if not _COMMAND.fullmatch(text):
        return text
    try:
        return lookup(f"GREEK CAPITAL LETTER {text[1:].upper()}")
    except KeyError as error:
        raise _NotWritten from error


_MEANT: Final = {r"\backslash": "\\", r"\wedge": "^"}
_SIGNS: Final = re.compile(r"\\(?:([{}&%$#_])|[,:;!]|(?:backslash|wedge)(?![A-Za-z])\s*)")


def _attributes(element: Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        allowed = ATTRIBUTES.get(name)
        if allowed and value and allowed.fullmatch(value):
            yield attribute(name, value)
