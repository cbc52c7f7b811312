"""Read ``.mmd`` files of NB MindMap and SciaReto: similar to Markdown, with a special header.

They are written by Igor Maznitsa's plug-in for NetBeans and IntelliJ IDEA, and by his editor
SciaReto. A file begins with a line of text, a line of attributes that includes ``__version__``, and
``---``. Each heading is a topic; there may be more levels than the six of Markdown. The lines below
a heading belong to its topic: attributes, then "extras" (a line ``- NOTE``, ``- LINK``, ``- FILE``
or ``- TOPIC``, followed by a ``<pre>`` block), then fenced code blocks.

* ``__version__`` is the version of the format; the file does not contain the program's version.
* A note may be encrypted. It is not read then.
* Fenced code blocks become part of the note.
* ``TOPIC`` is a link to another topic.
* Black text without a fill colour of its own is a default of the program and is ignored.
* The file marks only the topics on the left side.
* Mermaid and many other files have the same extension, so the header identifies the format.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mapshelf.model import Image, Marker, Outline, Style, Topic, sheets_of
from mapshelf.model.markers import marker
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.flat_tree import Levels, regrow
from mapshelf.readers.parsing.images import Images

_HEAD: Final = 4096
_HEADER: Final = re.compile(
    r"(?:(?!---|>).*\n){0,20}>[ \t].*\b__version__[ \t]*=[ \t]*`.*\n(?:>.*\n){0,20}\s*^-{3}",
    re.MULTILINE,
)
_ATTRIBUTE: Final = re.compile(r"([^\s=,`]{1,100})[ \t]*=[ \t]*(`{1,10})([^`\n]*+)\2")
"""An attribute. Its value may be a long picture, so the pattern must not backtrack into it."""

_BREAK: Final = re.compile(r"<\s{0,9}br\s{0,9}/?>", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#<>+\-.!])")
_EXTRA: Final = re.compile(r"-[ \t]*([A-Z]+)[ \t]*")
_FENCE: Final = "```"
_OPENING: Final = "<pre>"
_CLOSING: Final = "</pre>"
_BLACK: Final = "#000000"

_EMOTICONS: Final = {
    "accept": "yes",
    "attach": "attachment",
    "basket": "basket",
    "bell": "bell",
    "bomb": "bomb",
    "book": "book",
    "calendar": "calendar",
    "camera": "camera",
    "cancel": "no",
    "clock": "clock",
    "cog": "gear",
    "comment": "speech",
    "computer": "computer",
    "database": "database",
    "error": "warning",
    "exclamation": "exclamation",
    "gear_in": "gear",
    "heart": "heart",
    "help": "question",
    "house": "home",
    "information": "info",
    "key": "key",
    "lightbulb": "idea",
    "lock": "lock",
    "map": "map",
    "money": "money",
    "quill": "pencil",
    "star": "star",
    "stop": "stop",
    "tick": "yes",
    "user": "person",
    "warning": "warning",
    "wizard": "wizard",
    "www": "globe",
}
"""Markers for icons with a general meaning; the program has some four hundred icons."""


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of NB MindMap or SciaReto."""
    return content.archive is None and _HEADER.match(content.text[:_HEAD]) is not None


def read(content: Content) -> Outline:
    """Return the outline of a map of NB MindMap or SciaReto.

    Raises:
        BrokenFile: it has no topic.
        TooLarge: it exceeds a limit.
    """
    header = _HEADER.match(content.text[:_HEAD])
    head = header[0].lower() if header else ""
    levels = Levels(content.limits)
    for part in _parts(iter(content.lines[head.count("\n") :])):
        levels.add(part.level, part.topic(content.images))
    software = "SciaReto" if "scia reto" in head or "sciareto" in head else "NB MindMap"
    return Outline(sheets=sheets_of(regrow(levels.roots, content.limits)), software=software)


@dataclass(slots=True)
class _Part:
    """A heading and the lines up to the next heading."""

    level: int
    text: str
    attributes: dict[str, str] = field(default_factory=dict)
    extras: dict[str, str] = field(default_factory=dict)
    source: list[str] = field(default_factory=list)

    def topic(self, images: Images) -> Topic:
        encrypted = self.attributes.get("extras.note.encrypted") == "true"
        note = "" if encrypted else self.extras.get("NOTE", "")
        return Topic(
            text=_plain(self.text),
            id=self.attributes.get("topicLinkUID", ""),
            note="\n".join(part for part in (note, *self.source) if part),
            links=tuple(self._links()),
            markers=tuple(self._markers()),
            images=tuple(self._images(images)),
            style=self._style(),
            folded=self.attributes.get("collapsed") == "true",
            side="left" if self.attributes.get("leftSide") == "true" else "",
        )

    def _links(self) -> Iterator[str]:
        yield self.extras.get("LINK", "")
        yield self.extras.get("FILE", "")
        if target := self.extras.get("TOPIC", "").strip():
            yield f"#{target}"

    def _markers(self) -> Iterator[Marker]:
        name = self.attributes.get("mmd.emoticon", "")
        if name and name != "empty":
            yield marker(_EMOTICONS.get(name, ""), name)

    def _images(self, images: Images) -> Iterator[Image]:
        if data := self.attributes.get("mmd.image"):
            alt = self.attributes.get("mmd.image.name", "")
            yield images.add_source(f"data:;base64,{data}", alt=alt)

    def _style(self) -> Style | None:
        fill, text = (colour(self.attributes.get(name)) for name in ("fillColor", "textColor"))
        border = colour(self.attributes.get("borderColor"))
        style = Style(text="" if text == _BLACK and not fill else text, fill=fill, border=border)
        return style if style != Style() else None


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", _BREAK.sub("\n", text))


def _parts(lines: Iterator[str]) -> Iterator[_Part]:
    part: _Part | None = None
    extra = ""
    for line in lines:
        if line.startswith("#"):
            if part is not None:
                yield part
            heading = line.lstrip("#")
            part, extra = _Part(len(line) - len(heading), heading.strip()), ""
        elif part is not None:
            extra = _add(line, lines, part, extra)
    if part is not None:
        yield part


def _add(line: str, lines: Iterator[str], part: _Part, extra: str) -> str:
    """Add ``line`` to ``part``; return the kind of the extra whose block must follow, or empty."""
    kind = _EXTRA.fullmatch(line)
    if kind:
        return kind[1]
    if line.startswith(_FENCE):
        part.source.append("\n".join(_until(lines, _FENCE)))
    elif line.startswith(_OPENING):
        block = "\n".join((line, *_rest(line, lines)))
        inside = block[len(_OPENING) :].partition(_CLOSING)[0]
        part.extras[extra] = html.unescape(inside)
    elif line.startswith(">"):
        part.attributes |= {name: value for name, _, value in _ATTRIBUTE.findall(line)}
    else:
        return extra  # there may be blank lines between the kind of an extra and its block
    return ""


def _rest(line: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines after ``line``, up to the one that closes its ``<pre>`` block."""
    while _CLOSING not in line:
        line = next(lines, _CLOSING)
        yield line


def _until(lines: Iterator[str], end: str) -> Iterator[str]:
    for line in lines:
        if line.startswith(end):
            return
        yield line
