"""Parse untrusted XML with expat, counting as it goes.

``xml.etree`` has no limits. The hardened wrappers around it have none for depth, elements or
attributes, and refuse files that users expect to open (undeclared HTML entities, characters that
XML forbids). So this module uses expat directly: handlers that count pass everything to the tree
builder of the standard library. A DOCTYPE is refused, so entities can neither expand nor load
anything; the only exception is one without declarations that some programs write at the beginning
of every file, which is skipped. The text is passed to expat in one piece, because expat takes
quadratic time if a huge token arrives in small pieces.
"""

import re
from functools import lru_cache
from html.entities import html5
from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate, errors

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.readers.parsing.limits import MIB, Limits

_OWN_ENTITIES: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})

_REFERENCE: Final = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<!--.*?(?:-->|\Z)"
    r"|&(?:\#(?P<decimal>[0-9]{1,9});|\#x(?P<hexadecimal>[0-9A-Fa-f]{1,8});"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]{0,40});)?",
    re.DOTALL,
)

_SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PIECE: Final = MIB
_PROLOG_PIECES: Final = 100_000  # before the first element; a file has room for millions
_SPACE: Final = re.compile(r"\s*")
_ROOT_TAG: Final = re.compile(r"<([A-Za-z_][\w.:-]{0,100})[^<>]{0,4000}")
_DOCTYPE: Final = re.compile(
    r"<!DOCTYPE\s+([\w.:-]{1,100})"
    r'(?:\s+(?:SYSTEM|PUBLIC\s+"[^"<>]{0,200}")\s+"[^"<>]{0,200}")?\s*>'
)
_CONFLICT: Final = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)


def parse_xml(text: str, limits: Limits, doctype: str = "") -> Element:
    """Return the root element of ``text``, with namespace prefixes dropped from all names.

    If a text is not well-formed, one repair is attempted that cannot change its meaning:
    undeclared HTML entities and stray ampersands become the characters they stand for, characters
    forbidden in XML are removed, and surrogate halves written as two references are joined (old
    FreeMind wrote emoji this way).

    Args:
        text: the XML.
        limits: the limits for elements, attributes and levels.
        doctype: name in the DOCTYPE that programs write in this format. A DOCTYPE with that
            name and without declarations is skipped, never loaded.

    Raises:
        BrokenFile: it is not well-formed even after the repair, or has another DOCTYPE.
        TooLarge: it has too many elements, attributes or levels, or needs too many repairs.
    """
    if doctype:
        text = _without_doctype(text, doctype)
    try:
        return _parse(text, limits)
    except ExpatError:
        pass
    try:
        return _parse(_mend(text, limits), limits)
    except ExpatError as error:
        raise BrokenFile(_complaint(error, text)) from error


def root_tag(text: str) -> tuple[str, str]:
    """Return the name (without prefix) and the start tag of the root element, without parsing.

    Both are empty if ``text`` does not begin like XML. Only for detecting formats.
    """
    position = _skip_prolog(text)
    tag = _ROOT_TAG.match(text, position)
    if tag is None:
        return "", ""
    return tag[1].rpartition(":")[2], tag[0]


class _Handlers:
    """Expat handlers that enforce the limits and pass valid input to the tree builder."""

    def __init__(self, limits: Limits) -> None:
        self.tree = TreeBuilder()
        self._limits = limits
        self._elements = 0
        self._depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > self._limits.elements:
            raise TooLarge(f"it has more than {self._limits.elements:,} XML elements")
        if self._depth > self._limits.nesting:
            raise TooLarge(f"its XML is nested more than {self._limits.nesting:,} elements deep")
        if len(attributes) > self._limits.attributes:
            raise TooLarge(
                f"an XML element has {len(attributes):,} attributes;"
                f" the limit is {self._limits.attributes:,}"
            )
        self.tree.start(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        self._depth -= 1
        self.tree.end(_local(name))

    def doctype(self, *_: object) -> None:
        raise BrokenFile("it has a DOCTYPE, which maps have no use for and is refused for safety")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _parse(text: str, limits: Limits) -> Element:
    handlers = _Handlers(limits)
    parser = ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = handlers.start
    parser.EndElementHandler = handlers.end
    parser.CharacterDataHandler = handlers.tree.data
    parser.StartDoctypeDeclHandler = handlers.doctype
    # Blank lines before the XML declaration are forbidden, but frequent and harmless.
    parser.Parse(text.lstrip(), True)
    return handlers.tree.close()


def _without_doctype(text: str, name: str) -> str:
    # If the DOCTYPE found is in a comment, expat still finds the real one and refuses it.
    start = text.find("<!DOCTYPE", 0, _skip_prolog(text))
    found = _DOCTYPE.match(text, start) if start >= 0 else None
    if found is None or found[1] != name:
        return text
    return text[:start] + "\n" * found[0].count("\n") + text[found.end() :]


def _mend(text: str, limits: Limits) -> str:
    # Each reference costs a Python call: sixteen million would take twelve seconds.
    if text.count("&") > limits.elements:
        raise TooLarge(f"its XML is broken, with more than {limits.elements:,} references in it")
    text = _REFERENCE.sub(_mended_reference, text)
    text = _SURROGATE_PAIR.sub(_joined, text)
    # In pieces, because a substitution holds a list of all unchanged parts until it is done.
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(_FORBIDDEN.sub("", piece) for piece in pieces)


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _mended_reference(match: re.Match[str]) -> str:
    if match[0][0] == "<":
        return match[0]
    if match["name"]:
        return _mended_name(match["name"])
    if match["decimal"] or match["hexadecimal"]:
        code = int(match["decimal"] or match["hexadecimal"], 10 if match["decimal"] else 16)
        return _mended_code(code, match[0])
    return "&amp;"


@lru_cache(maxsize=256)  # few names, many times: all occurrences share one string
def _mended_name(name: str) -> str:
    if name in _OWN_ENTITIES:
        return f"&{name};"
    characters = html5.get(f"{name};")
    if characters is None:
        return f"&amp;{name};"
    return "".join(f"&#{ord(character)};" for character in characters)


def _mended_code(code: int, reference: str) -> str:
    if code > 0x10FFFF:
        return ""
    character = chr(code)
    # A forbidden one is written out, so that halves can be joined before others are removed.
    return character if _FORBIDDEN.match(character) else reference


def _complaint(error: ExpatError, text: str) -> str:
    if _CONFLICT.search(text):
        return "it holds unresolved git merge conflict markers"
    reason = errors.messages.get(error.code, "not well-formed")
    return f"its XML is broken at line {error.lineno}: {reason}"


def _skip_prolog(text: str) -> int:
    """Return the position of the first element, after declaration, comments and DOCTYPE."""
    position = 0
    for _ in range(_PROLOG_PIECES):
        position = _after_space(text, position)
        for opening, closing in (("<?", "?>"), ("<!--", "-->"), ("<!", ">")):
            if text.startswith(opening, position):
                position = _after(text, opening, closing, position)
                break
        else:
            break
    return position


def _after_space(text: str, position: int) -> int:
    # A loop over the characters takes seconds for a file of nothing but space.
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _after(text: str, opening: str, closing: str, position: int) -> int:
    end = text.find(closing, position)
    # Not beyond this piece: a file can have millions of them, and each search would read the rest.
    subset = text.find("[", position, end) if opening == "<!" and end >= 0 else -1
    if subset >= 0:
        end = text.find(closing, text.find("]", subset))
    return len(text) if end < 0 else end + len(closing)
