"""Read KityMinder, and Baidu's Naotu, which is based on it: JSON with ``data`` and ``children``.

* In the oldest files, the document is the central topic; in later ones, its ``root`` is.
* Notes are Markdown and are preserved as typed. Resources, as the program calls them, are tags.
* Priority is a marker; progress, from 1 (not begun) to 9 (done), is the state of a task.
* Images are embedded as data URIs, or only linked to. The theme is not read.
* ``.km`` is also the extension of key maps and other files, so the format is detected from the
  structure of the content.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from mapshelf.errors import NotAMap
from mapshelf.model import Image, Marker, Outline, Style, Task, Topic, sheets_of
from mapshelf.model.markers import marker
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.images import Images
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.topic_tree import grow

Node = dict[str, object]

_SIGNS: Final = ('"data"', '"text"')
_TREES: Final = ('"root"', '"children"')
_DONE: Final = 9
"""The progress of a finished task; 1 means not begun."""


def sniff(content: Content) -> bool:
    """Return whether ``content`` may be a KityMinder map; ``read`` checks more."""
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
        sheets=sheets_of(grow([root], partial(_topic, content.images), _children, content.limits)),
        software="KityMinder",
        software_version=as_text(file.get("version")),
        created=milliseconds(data.get("created")),
    )


def _children(node: Node) -> list[Node]:
    return [child for child in as_list(node.get("children")) if isinstance(child, dict)]


def _topic(images: Images, node: Node) -> Topic:
    data = as_object(node.get("data"))
    link = data.get("hyperlink")
    return Topic(
        id=as_text(data.get("id")),
        text=as_text(data.get("text")),
        note=as_text(data.get("note")),
        links=(as_text(link) or as_text(as_object(link).get("url")),),
        markers=tuple(_markers(data)),
        tags=tuple(map(as_text, as_list(data.get("resource")))),
        task=_task(data.get("progress")),
        images=tuple(_images(images, data)),
        style=_style(data),
        folded=data.get("expandState") == "collapse" and bool(_children(node)),
    )


def _markers(data: Node) -> Iterator[Marker]:
    priority = data.get("priority")
    if isinstance(priority, int) and priority in range(1, 10):
        yield marker(f"priority-{priority}", f"priority {priority}")


def _task(progress: object) -> Task | None:
    if not isinstance(progress, int) or not 1 <= progress <= _DONE:
        return None
    state = "todo" if progress == 1 else "done" if progress == _DONE else "started"
    return Task(state, progress=round(100 * (progress - 1) / (_DONE - 1)))


def _images(images: Images, data: Node) -> Iterator[Image]:
    source = as_text(data.get("image"))
    if source:
        size = as_object(data.get("imageSize"))
        width, height = number(size.get("width")), number(size.get("height"))
        yield images.add_source(source, width, height, as_text(data.get("imageTitle")))


def _style(data: Node) -> Style | None:
    style = Style(
        text=colour(as_text(data.get("color"))),
        fill=colour(as_text(data.get("background"))),
        bold=data.get("font-weight") == "bold",
        italic=data.get("font-style") == "italic",
        size=number(data.get("font-size")),
    )
    return style if style != Style() else None
