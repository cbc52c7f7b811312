"""XML as text: escaping, and HTML made well-formed so that it can stand inside XML.

Written by hand although the standard library writes XML, because its serializer goes down the tree
by recursion, and lets characters pass that no XML parser will take back.
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
    """Return ``text`` as it stands between tags."""
    return sound(text).translate(_IN_TEXT)


def attribute(name: str, value: str) -> str:
    """Return an attribute with a blank before it. Line ends are kept, as references."""
    return f' {name}="{sound(value).translate(_IN_ATTRIBUTE)}"'


def xhtml(html: str) -> str:
    """Return ``html`` with every element closed, nested rightly and free of HTML's entities."""
    parser = _Balancing()
    parser.feed(html)
    parser.close()
    return parser.result()


class _Balancing(HTMLParser):
    """Writes what it is fed anew."""

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
