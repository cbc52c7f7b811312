"""Identify files that no reader accepts, for a precise error message.

Other files share the extensions of maps: ``.mm`` is Objective-C++, ``.wxml`` a WeChat template, and
a clone without Git LFS has pointers instead of maps. A precise message saves users the search. Each
row of the tables maps a pattern, or an archive member, to a description of the file.
"""

import re
from typing import Final

from mapshelf.errors import NotAMap
from mapshelf.readers.parsing.content import Content

_HEAD: Final = 8192

_SIGNS: Final = (
    (rb"\s*\Z", "the file is empty"),
    (rb"version https://git-lfs", "it is a Git LFS pointer, the file itself was not downloaded"),
    (rb"\x89PNG\r\n", "it is a PNG image"),
    (rb"\xff\xd8\xff", "it is a JPEG image"),
    (rb"GIF8[79]a", "it is a GIF image"),
    (rb"%PDF-", "it is a PDF document"),
    (rb"\xd0\xcf\x11\xe0", "it is an old Microsoft Office document"),
    (rb"\x1f\x8b|7z\xbc\xaf|Rar!|BZh|\xfd7zXZ", "it is a compressed file, unpack it first"),
    (rb"SQLite format 3\x00", "it is an SQLite database"),
    (rb"\x7fELF|MZ", "it is a program"),
    (rb"(?i)\s*<!doctype\s+html", "it is a web page (HTML)"),
    (rb"(?m).*?^[ \t]*@start[a-z]+\b", "it is a PlantUML diagram of another kind"),
    (
        rb"\s*(?:%%[^\n]*\n\s*)*(?:graph|flowchart|sequenceDiagram|classDiagram|stateDiagram"
        rb"|erDiagram|gantt|journey|pie|gitGraph|timeline|quadrantChart)\b",
        "it is a Mermaid diagram of another kind",
    ),
    (
        rb"(?m).*?^[ \t]*(?:#[ \t]*(?:import|include|pragma|ifdef|ifndef|if|define)\b"
        rb"|@(?:interface|implementation|import|class)\b)",
        "it looks like Objective-C or C++ source text",
    ),
)
"""Patterns for the first bytes of a file → what the file is. The first match counts."""

_WECHAT: Final = "it looks like a WeChat template"

_ROOTS: Final = {
    "html": "it is a web page (HTML)",
    "block": _WECHAT,
    "import": _WECHAT,
    "scroll-view": _WECHAT,
    "template": _WECHAT,
    "view": _WECHAT,
    "wxs": _WECHAT,
}
"""First elements of texts that look like XML → what the file is."""

_OTHER_ARCHIVES: Final = (
    ("word/document.xml", "it is a Word document"),
    ("xl/workbook.xml", "it is an Excel workbook"),
    ("ppt/presentation.xml", "it is a PowerPoint presentation"),
    ("META-INF/MANIFEST.MF", "it is a Java archive"),
    ("mimetype", "it is an OpenDocument or EPUB file"),
)

_COMPILED: Final = tuple((re.compile(sign, re.DOTALL), what) for sign, what in _SIGNS)


def unsupported_error(content: Content) -> NotAMap:
    """Return the error to raise for a file that no reader accepted."""
    if content.archive is not None:
        return _archive_error(content.archive.names)
    head = content.data[:_HEAD]
    for sign, what in _COMPILED:
        if sign.match(head):
            return _not_a_map(what)
    return _not_a_map(_kind_of_text(content))


def _archive_error(names: frozenset[str]) -> NotAMap:
    for member, what in _OTHER_ARCHIVES:
        if member in names:
            return _not_a_map(what)
    return _not_a_map("it is a ZIP archive without a map in it")


def _kind_of_text(content: Content) -> str:
    if content.root_name:
        other = f"it is XML of another kind, its root element is {content.root_name}"
        return _ROOTS.get(content.root_name.lower(), other)
    start = content.text[:_HEAD]
    if start.lstrip()[:1] in {"{", "["}:
        return "it is JSON of another kind"
    if _is_binary(start):
        return "it is binary data of an unknown kind"
    return "it is text of another kind"


def _is_binary(text: str) -> bool:
    return any(ord(character) < 32 and not character.isspace() for character in text)


def _not_a_map(what: str) -> NotAMap:
    return NotAMap(f"not a mind map: {what}")
