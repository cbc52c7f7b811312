"""Convert the formatted notes of newer XMind versions to HTML.

XMind stores the same note up to four times: as plain text, as HTML (some versions), as a list of
paragraphs, and as operations of the Quill editor. Only the last has lists.
"""

from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Final, NamedTuple

from mapshelf.readers.parsing.json_files import as_list, as_object, as_text
from mapshelf.readers.parsing.notes import Note

_INLINE: Final = {"bold": "b", "italic": "i", "underline": "u", "strike": "s"}
_SPAN_STYLES: Final = {
    ("fo:font-weight", "bold"): "b",
    ("fo:font-style", "italic"): "i",
    ("fo:text-decoration", "underline"): "u",
    ("fo:text-decoration", "line-through"): "s",
}
_LISTS: Final = {"ordered": "ol", "bullet": "ul", "checked": "ul", "unchecked": "ul"}


class _Line(NamedTuple):
    """A line of a note.

    Attributes:
        list: element of the list that contains the line, empty if none.
        element: element of the line itself.
        html: content of the line.
    """

    list: str
    element: str
    html: str


def add_json_note(note: Note, notes: dict[str, object]) -> None:
    """Add the content of the member ``notes`` of a topic to ``note``."""
    plain = as_text(as_object(notes.get("plain")).get("content"))
    html = as_text(as_object(notes.get("realHTML")).get("content")) or _rich(notes)
    if not html:
        note.add_text(plain)
    elif plain.strip():
        note.add_both(plain, html)
    else:
        note.add_html(html)


def note_pictures(notes: dict[str, object]) -> Iterator[str]:
    """Yield the addresses of the pictures in a note."""
    for operation in as_list(as_object(notes.get("ops")).get("ops")):
        picture = as_object(as_object(operation).get("insert")).get("image")
        yield as_text(picture) or as_text(as_object(picture).get("src"))


def _rich(notes: dict[str, object]) -> str:
    """Return the note as HTML, empty if it is not formatted and the file has it as plain text."""
    plain = as_text(as_object(notes.get("plain")).get("content")).strip()
    operations = as_list(as_object(notes.get("ops")).get("ops"))
    if operations:
        formatted = any(as_object(operation).get("attributes") for operation in operations)
        return _of_lines(_lines(operations)) if formatted or not plain else ""
    paragraphs = as_list(as_object(as_object(notes.get("html")).get("content")).get("paragraphs"))
    html = "".join(_paragraph(as_object(paragraph)) for paragraph in paragraphs)
    formatted = html.count("<") > 2 * len(paragraphs)
    return html if formatted or not plain else ""


def _lines(operations: list[object]) -> Iterator[_Line]:
    """Yield the lines. The attributes of the operation that ends a line determine its element."""
    pieces: list[str] = []
    for operation in map(as_object, operations):
        text = operation.get("insert")
        if not isinstance(text, str):
            continue
        attributes = as_object(operation.get("attributes"))
        *whole, rest = text.split("\n")
        for line in whole:
            pieces.append(_inline(line, attributes))
            yield _line("".join(pieces), attributes)
            pieces = []
        pieces.append(_inline(rest, attributes))
    if any(pieces):
        yield _line("".join(pieces), {})


def _inline(text: str, attributes: dict[str, object]) -> str:
    html = escape(text, quote=False)
    if not html:
        return ""
    for name, element in _INLINE.items():
        if attributes.get(name):
            html = f"<{element}>{html}</{element}>"
    link = as_text(attributes.get("link"))
    return f'<a href="{escape(link)}">{html}</a>' if link else html


def _line(html: str, attributes: dict[str, object]) -> _Line:
    if kind := _LISTS.get(as_text(attributes.get("list"))):
        return _Line(kind, "li", html)
    level = as_text(attributes.get("header"))
    return _Line("", f"h{level}" if level in ("1", "2", "3", "4", "5", "6") else "p", html)


def _of_lines(lines: Iterator[_Line]) -> str:
    parts = []
    for kind, group in groupby(lines, key=lambda line: line.list):
        inside = "".join(f"<{line.element}>{line.html}</{line.element}>" for line in group)
        parts.append(f"<{kind}>{inside}</{kind}>" if kind else inside)
    return "".join(parts)


def _paragraph(paragraph: dict[str, object]) -> str:
    return f"<p>{''.join(map(_span, map(as_object, as_list(paragraph.get('spans')))))}</p>"


def _span(span: dict[str, object]) -> str:
    if "spans" in span:  # a link; its text consists of spans
        words = "".join(map(_words, map(as_object, as_list(span.get("spans")))))
        return f'<a href="{escape(as_text(span.get("href")))}">{words}</a>'
    return _words(span)


def _words(span: dict[str, object]) -> str:
    html = escape(as_text(span.get("text")), quote=False)
    properties = as_object(as_object(span.get("style")).get("properties"))
    for (name, value), element in _SPAN_STYLES.items():
        if properties.get(name) == value:
            html = f"<{element}>{html}</{element}>"
    return html
