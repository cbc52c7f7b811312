"""MindNode: an archive with ``contents.xml``, which is a property list, usually a binary one.

* On a Mac, a document is a folder unless it was saved as a file. That folder may be compressed as
  it is, by the Finder or a download; the property list alone is read too.
* Titles and notes are HTML, plain text, or (if there is nothing else) RTF.
* Several main nodes become several roots. Connections, tags, tasks and pictures are not read.
* The file has only the version of its format, not of the program.
"""

import re
from typing import Final

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.plist_files import MAGIC, parse_plist
from mapshelf.readers.parsing.text_cleaning import html_to_text
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.zip_files import Archive

Node = dict[str, object]

MAIN: Final = "contents.xml"
"""Member of the archive, or file in the folder, with the property list."""

_IN_FOLDER: Final = re.compile(r"[^/]+\.mindnode/contents\.xml")
_HTML: Final = re.compile(r"\s*<(?:p|html|body|div|span|ul|ol|!doctype)\b", re.IGNORECASE)
_RTF: Final = re.compile(
    r"\\u(?P<code>-?\d{1,6})[ ?]?|\\'(?P<byte>[0-9a-f]{2})|\\(?P<word>[a-z]{1,32})-?\d{0,9} ?"
    r"|\\(?P<sign>[^a-z])|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)",
)
_RTF_BREAKS: Final = frozenset({"par", "line"})
_CODE_PAGE: Final = re.compile(r"\\ansicpg(\d{3,5})")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of MindNode: a file, a compressed folder or its list."""
    if content.archive is None:
        is_list = content.data.startswith(MAGIC) or content.root_name == "plist"
        return is_list and b"mainNodes" in content.data
    return _member(content.archive) is not None


def read(content: Content) -> Outline:
    """Return the outline of a MindNode document.

    Raises:
        BrokenFile: it is damaged or has no node.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    data = content.data if archive is None else archive.read(_member(archive) or MAIN)
    document = as_object(parse_plist(data, content.limits))
    tree = as_object(document.get("mindMap"))
    if not tree:
        raise BrokenFile("its property list holds no mind map")
    return _outline(document, tree, content.limits)


def _outline(document: Node, tree: Node, limits: Limits) -> Outline:
    mains = [node for node in as_list(tree.get("mainNodes")) if isinstance(node, dict)]

    def topic_of(node: Node) -> Topic:
        return _topic(node, document if node is mains[0] else {})

    return Outline(
        sheets=sheets_of(grow(mains, topic_of, _children, limits)),
        software="MindNode",
        author=as_text(document.get("author")),
        copyright=as_text(document.get("copyright")),
        created=milliseconds(document.get("creationDate")),
        modified=milliseconds(document.get("modificationDate")),
    )


def _member(archive: Archive) -> str | None:
    if MAIN in archive.names:
        return MAIN
    inside = [name for name in archive.names if _IN_FOLDER.fullmatch(name)]
    return inside[0] if len(inside) == 1 else None


def _children(node: Node) -> list[Node]:
    return [child for child in as_list(node.get("subnodes")) if isinstance(child, dict)]


def _topic(node: Node, document: Node) -> Topic:
    note = Note()
    body = _written(node.get("note"))
    if _HTML.match(body):
        note.add_html(body)
    else:
        note.add_text(_plain(body))
    note.add_text(as_text(document.get("comments")))
    note.add_fact("Keywords", (as_text(document.get("keywords")),))
    return Topic(
        id=as_text(node.get("nodeID")),
        text=_plain(_written(node.get("title"))),
        note=note.plain,
        note_html=note.html,
        links=(as_text(node.get("link")), as_text(as_object(node.get("link")).get("url"))),
    )


def _written(value: object) -> str:
    parts = as_object(value)
    return as_text(parts.get("htmlText")) or as_text(parts.get("text")) or as_text(value)


def _plain(text: str) -> str:
    if _HTML.match(text):
        return html_to_text(text)
    return _rtf_to_text(text) if text.startswith("{\\rtf") else text


def _rtf_to_text(rtf: str) -> str:
    """Return the words of the simple RTF that macOS writes for a title."""
    page = _CODE_PAGE.search(rtf)
    codec = f"cp{page[1]}" if page and page[1] in {"932", "936", "949", "950"} else "cp1252"
    pieces = bytearray()
    depth = 0
    for token in _RTF.finditer(rtf):
        if token["brace"]:
            depth += 1 if token["brace"] == "{" else -1
        elif depth == 1:  # inner groups contain fonts and colours
            pieces += _rtf_piece(token, codec)
    return pieces.decode(codec, "replace")


def _rtf_piece(token: re.Match[str], codec: str) -> bytes:
    if token["byte"]:
        return bytes.fromhex(token["byte"])
    if token["code"]:
        return chr(int(token["code"]) % 0x10000).encode(codec, "replace")
    if token["word"]:
        return b"\n" if token["word"] in _RTF_BREAKS else b""
    return (token["text"] or token["sign"].strip("*~")).encode(codec, "replace")
