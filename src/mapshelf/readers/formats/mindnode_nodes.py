"""Read a node of a MindNode document: its text, attachments and style.

* Titles and notes are HTML, plain text, or (if there is nothing else) RTF. The CSS of the
  paragraphs in a title sets its font and colour.
* Formulas are between dollar signs: ``$…$`` in a title, ``$$…$$`` in a note.
* Pictures and other files are in ``resources/``.
* Versions 4 and 5 store colours at the node, later versions in its styles. Both write the colours
  of the theme to every node, so a node has the colours that the author saw.
"""

import re
from functools import lru_cache
from typing import Final

from mapshelf.errors import UnreadableFile
from mapshelf.model import Attachment, Style, Task, Topic
from mapshelf.model.markers import marker
from mapshelf.readers.parsing.colours import colour, colour_of_fractions
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.formulas import formulas_in
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.places import Place, place
from mapshelf.readers.parsing.rich_text import rich_text
from mapshelf.readers.parsing.rtf import is_rtf, rtf_to_text
from mapshelf.readers.parsing.text_cleaning import html_to_text, one_line

Node = dict[str, object]

_HTML: Final = re.compile(r"\s*<(?:p|html|body|div|span|ul|ol|!doctype)\b", re.IGNORECASE)
_ONE_PARAGRAPH: Final = re.compile(r"\s*<p(?: [^<>]*)?>([^<&]*)</p>\s*", re.IGNORECASE)
_FRACTIONS: Final = re.compile(
    r"\s*\{\s*([\d.]{1,20}),\s*([\d.]{1,20}),\s*([\d.]{1,20})(?:,\s*([\d.]{1,20}))?\s*\}\s*"
)
_HEAD: Final = 400
_WORDS_COLOUR: Final = re.compile(r"(?<![-\w])color:\s*(rgba?\([^()]{1,80}\)|#[0-9a-f]{3,8})", re.I)
_FONT: Final = re.compile(
    r"(?<![-\w])font:\s*((?:bold |italic |normal )*)(\d{1,3})(?:\.\d+)?px", re.I
)
_WHOLE: Final = re.compile(r"\s*\$([^$\n]{1,1000})\$\s*")
_DISPLAY: Final = re.compile(r"\$\$([^$]{1,4000})\$\$")
"""The formulas in a note. In a title, text between single dollar signs may be about money: only a
whole title (``_WHOLE``), or what ``formulas_in`` accepts, is a formula."""

_STATES: Final = {1: "todo", 2: "done"}
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tiff", ".heic", ".svg")
_LONGEST_NAME: Final = 100
_MOST_TAGS: Final = 100
"""Maximum tags per node: in a binary property list, all nodes may share a list of a million."""


class Nodes:
    """Converts the nodes of one document to topics."""

    def __init__(self, content: Content, folder: str, tags: dict[str, str]) -> None:
        """Prepare to convert nodes.

        Args:
            content: the file.
            folder: path of the document inside the archive, with a trailing slash; empty if the
                document is not in a folder.
            tags: the names of tags by their ids.
        """
        self._content = content
        self._folder = folder
        self._tags = tags

    def topic(self, node: Node, *, is_main: bool) -> Topic:
        """Return the topic for ``node``, without its children."""
        title = _written(node.get("title"))
        topic = Topic(text=_plain(title), id=as_text(node.get("nodeID")))
        if _HTML.match(title) and not _ONE_PARAGRAPH.fullmatch(title):
            topic.text, topic.text_html, topic.links = rich_text(title)
        if "note" in node:
            _add_note(topic, _written(node["note"]))
        if "$" in topic.text or "$$" in topic.note:
            topic.formula = _formula(topic)
        topic.folded = node.get("hasFoldedSubnodes") is True and bool(node.get("subnodes"))
        topic.style = _style(node, title, is_main=is_main)
        self._add_rest(topic, node)
        return topic

    def _add_rest(self, topic: Topic, node: Node) -> None:
        """Add the properties that few nodes have: task, tags, attachment and links."""
        if "task" in node:
            state = as_object(node["task"]).get("state")
            topic.task = Task(_STATES.get(state, "todo") if isinstance(state, int) else "")
        if "tags" in node:
            names = map(as_text, as_list(node["tags"])[:_MOST_TAGS])
            topic.tags = tuple(self._tags.get(name, "") for name in names)
        if "attachment" in node:
            self._attach(topic, as_object(node["attachment"]))
        link = node.get("link")
        file = as_object(node.get("fileLink"))
        topic.links += (
            as_text(link),
            as_text(as_object(link).get("url")),
            as_text(file.get("relativeFilePath")) or as_text(file.get("absoluteFilePath")),
        )

    def _attach(self, topic: Topic, attachment: Node) -> None:
        name = as_text(attachment.get("fileName"))
        sticker = as_text(attachment.get("clipArtName")) or as_text(attachment.get("stickerName"))
        if sticker:
            topic.markers = (marker("", sticker[:_LONGEST_NAME]),)
        if not name:
            return
        width, height = place(as_text(attachment.get("size"))) or (0.0, 0.0)
        images, archive = self._content.images, self._content.archive
        if archive is None:
            image = images.add_beside(f"resources/{name}", width, height)
            data = None
        else:
            data = self._resource(name)
            image = images.add(data, width, height, name)
        if image.digest or (name.lower().endswith(_PICTURES) and not sticker):
            topic.images = (image,)
        elif not sticker:
            topic.attachments = (Attachment(name, len(data or b"")),)

    def _resource(self, name: str) -> bytes | None:
        archive = self._content.archive
        try:
            return archive.read(f"{self._folder}resources/{name}") if archive else None
        except UnreadableFile:
            return None


def words_of(value: object) -> str:
    """Return a title or note as plain text, whatever its format."""
    return _plain(_written(value))


def place_of(node: Node) -> Place | None:
    """Return the position of a node on the canvas."""
    return place(as_text(node.get("location")))


def colour_of(value: object) -> str:
    """Return a colour written as ``{red, green, blue, alpha}``, each from 0 to 1."""
    return _colour(value) if isinstance(value, str) and len(value) < _LONGEST_NAME else ""


@lru_cache(maxsize=1024)  # every node has four colours, mostly the same
def _colour(text: str) -> str:
    found = _FRACTIONS.fullmatch(text)
    if found is None:
        return ""
    try:
        red, green, blue, alpha = (float(part or 1) for part in found.groups())
    except ValueError:  # such as 0.1.2
        return ""
    return colour_of_fractions(red, green, blue, alpha)


def _written(value: object) -> str:
    if isinstance(value, dict):
        return as_text(value.get("htmlText")) or as_text(value.get("text"))
    return as_text(value)


def _plain(text: str) -> str:
    if found := _ONE_PARAGRAPH.fullmatch(text):
        return one_line(found[1])
    if _HTML.match(text):
        return html_to_text(text)
    return rtf_to_text(text) if is_rtf(text) else text


def _add_note(topic: Topic, body: str) -> None:
    note = Note()
    if _HTML.match(body):
        note.add_html(body)
    else:
        note.add_text(_plain(body))
    topic.note, topic.note_html = note.plain, note.html


def _formula(topic: Topic) -> str:
    """Return the formula in the text of a topic, or else the formulas in its note."""
    if whole := _WHOLE.fullmatch(topic.text):
        return whole[1].strip()
    found = map(str.strip, _DISPLAY.findall(topic.note))
    return formulas_in(topic.text).formula or r" \quad ".join(filter(None, found))


# --- Style -------------------------------------------------------------------------------------


def _style(node: Node, title: str, *, is_main: bool) -> Style | None:
    shape = as_object(node.get("shapeStyle"))
    border = as_object(shape.get("borderStrokeStyle"))
    stroke = as_object(as_object(node.get("pathStyle")).get("strokeStyle"))
    font = as_object(as_object(node.get("title")).get("fontStyle"))
    head = title[:_HEAD]
    words = _WORDS_COLOUR.search(head)
    face = _FONT.search(head)
    line = colour_of(stroke.get("color")) or colour_of(node.get("strokeColor"))
    style = Style(
        text=colour(words[1]) if words else colour_of(font.get("color")),
        fill=colour_of(shape.get("fillColor")) or _fill(node),
        line="" if is_main else line,
        border=colour_of(border.get("color")) if border else line if is_main else "",
        bold=font.get("bold") is True or bool(face and "bold" in face[1].lower()),
        italic=font.get("italic") is True or bool(face and "italic" in face[1].lower()),
        size=float(face[2]) if face else _number(font.get("fontSize")),
        line_width=0.0 if is_main else _number(stroke.get("width") or node.get("strokeWidth")),
    )
    return style if style != Style() else None


def _fill(node: Node) -> str:
    return colour_of(node.get("fillColor")) if node.get("isDrawingFill") is True else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 < value < 1000 else 0.0
