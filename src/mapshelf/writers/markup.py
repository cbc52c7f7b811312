"""Generate XML as text: escaping, and converting HTML to well-formed XHTML.

The serializer of the standard library is unsuitable: it is recursive, and it writes characters that
XML parsers reject.
"""

import re
from html.parser import HTMLParser
from typing import Final

from mapshelf.writers.plain import sound

_VOID: Final = frozenset({"area", "br", "col", "hr", "img", "input", "wbr"})
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")

_IN_TEXT: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_IN_ATTRIBUTE: Final = {**_IN_TEXT, ord('"'): "&quot;", ord("\n"): "&#10;", ord("\t"): "&#9;"}


def escaped(text: str) -> str:
    """Escape ``text`` for use as element content."""
    return sound(text).translate(_IN_TEXT)


def attribute(name: str, value: str) -> str:
    """Return an attribute, preceded by a space. Line breaks are preserved as references."""
    return f' {name}="{sound(value).translate(_IN_ATTRIBUTE)}"'


def xhtml(html: str) -> str:
    """Return ``html`` as well-formed XHTML, without HTML entities."""
    parser = _Balancing()
    parser.feed(html)
    parser.close()
    return parser.result()


class _Balancing(HTMLParser):
    """Rewrites HTML as well-formed XHTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not _NAME.fullmatch(tag):
            return
        named = {name: value or "" for name, value in attrs if _NAME.fullmatch(name)}
        start = tag + "".join(attribute(name, value) for name, value in named.items())
        if tag in _VOID:
            self._pieces.append(f"<{start}/>")
        else:
            self._pieces.append(f"<{start}>")
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self._open:
            last = self._open.pop()
            self._pieces.append(f"</{last}>")
            if last == tag:
                break

    def handle_data(self, data: str) -> None:
        self._pieces.append(escaped(data))

    def result(self) -> str:
        return "".join(self._pieces) + "".join(f"</{tag}>" for tag in reversed(self._open))
