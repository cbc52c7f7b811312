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
"""Elements that are written. Other elements are replaced by their content."""

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
"""Attributes that are written, with the pattern of their values. Lengths stay below 100 units."""

_DEEPEST: Final = 150
"""Maximum nesting depth of elements; browsers allow up to 512."""

LARGEST: Final = 65_536
"""Maximum characters of the MathML of a formula."""


_TABLES: Final = {
    **dict.fromkeys(("aligned", "alignedat", "alignat*", "eqnarray*", "flalign*"), "align*"),
    **dict.fromkeys(("gather*", "gathered", "multline*", "multlined"), "matrix"),
}
"""LaTeX environments, each with one that latex2mathml knows and that looks alike."""

_TABLE: Final = re.compile(
    r"\\(begin|end)\{(" + "|".join(map(re.escape, _TABLES)) + r")\}(?:\{\d\})?"
)
_COMMAND: Final = re.compile(r"\\[A-Za-z]+")


class _NotWritten(Exception):
    """The MathML of a formula is nested too deeply, or contains an unknown command."""


def written(formula: str) -> tuple[str | None, int]:
    """Return a formula as MathML, and the work for it in characters of output.

    The MathML has the LaTeX as its alternative text. It is ``None`` if the conversion fails or the
    result is too long.
    """
    try:
        whole = convert_to_element(_known(plain_latex(formula)), display="block")
        inside = "".join(piece for child in whole for piece in _elements(child, 1))
    except Exception:  # latex2mathml raises many types of exceptions for invalid LaTeX
        return None, 0
    if not inside or len(inside) > LARGEST:
        return None, len(inside)
    # The formula is inline, but as large as on a line of its own.
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
    """Return text, with the LaTeX commands that latex2mathml leaves in it converted or removed."""
    return _SIGNS.sub(lambda found: _MEANT.get(found[0].strip(), found[1] or " "), sound(text))


def _name(text: str) -> str:
    r"""Return the name of a variable.

    latex2mathml treats a command that it does not know as a variable. The name of a Greek letter
    (``\Alpha``) is converted to the capital letter.

    Raises:
        _NotWritten: it is another unknown command.
    """
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
