"""KityMinder, and Baidu's Naotu, which is based on it: JSON, ``data`` and ``children``.

* The oldest files are the central topic itself; later ones have it as ``root``.
* Notes are Markdown and kept as they were typed; resources (labels), priority and progress are
  added to them. Pictures and the theme are not read.
* ``.km`` is also the extension of key maps and other files, so the structure of the content
  decides.
"""

from typing import Final

from mapshelf.errors import NotAMap
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow

Node = dict[str, object]

_SIGNS: Final = ('"data"', '"text"')
_TREES: Final = ('"root"', '"children"')
_DONE: Final = 9
"""The progress that means finished; 1 means not begun."""


def sniff(content: Content) -> bool:
    """Return whether ``content`` may be a map of KityMinder; ``read`` checks more."""
    if content.archive is not None or not content.text[:100].lstrip().startswith("{"):
        return False
    signs = (sign in content.text for sign in _SIGNS)
    return all(signs) and any(sign in content.text for sign in _TREES)


def read(content: Content) -> Outline:
    """Return the outline of a KityMinder map.

    Raises:
        NotAMap: it is other JSON that contains the same words.
        BrokenFile: it is not well-formed.
        TooLarge: it exceeds a limit.
    """
    file = as_object(parse_json(content.text, content.limits))
    root = as_object(file.get("root")) or file
    data = root.get("data")
    if not isinstance(data, dict) or "text" not in data:
        raise NotAMap("not a mind map: it is JSON of another kind")
    return Outline(
        sheets=sheets_of(grow([root], _topic, _children, content.limits)),
        software="KityMinder",
        software_version=as_text(file.get("version")),
        created=milliseconds(data.get("created")),
    )


def _children(node: Node) -> list[Node]:
    return [child for child in as_list(node.get("children")) if isinstance(child, dict)]


def _topic(node: Node) -> Topic:
    data = as_object(node.get("data"))
    note = Note()
    note.add_text(as_text(data.get("note")))
    note.add_fact("Labels", map(as_text, as_list(data.get("resource"))))
    note.add_fact("Priority", (_number(data.get("priority")),))
    note.add_fact("Progress", (_progress(data.get("progress")),))
    link = data.get("hyperlink")
    return Topic(
        id=as_text(data.get("id")),
        text=as_text(data.get("text")),
        note=note.plain,
        links=(as_text(link) or as_text(as_object(link).get("url")),),
    )


def _number(value: object) -> str:
    return str(value) if isinstance(value, int) and value > 0 else ""


def _progress(value: object) -> str:
    return f"{value - 1}/{_DONE - 1}" if isinstance(value, int) and 1 <= value <= _DONE else ""
