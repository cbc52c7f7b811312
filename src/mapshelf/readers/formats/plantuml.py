"""Read PlantUML mind maps: the parts of a text between ``@startmindmap`` and ``@endmindmap``.

The syntax follows PlantUML's reference and the commands of its parser. A topic begins with one of:

* stars (or ``#``), one for each level;
* a single star after an indentation, as in Markdown;
* plus signs for the right side, or minus signs for the left side, one for each level.

A colour in brackets and an underscore (no box) may follow. After them is the text, or a colon and
text of several lines up to a semicolon.

* Every topic of the first level, in any block of the text, is a sheet.
* The targets of links are collected. Links, line breaks and common formatting in PlantUML's markup
  (Creole) become plain text.
* Titles, legends, styles, directives and stereotypes are ignored. Includes are not loaded and
  variables are not replaced: that would need the preprocessor and other files.
"""

import re
from collections.abc import Iterator
from typing import Final

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.flat_tree import Levels, regrow

_START: Final = re.compile(r"^[ \t]*@startmindmap\b", re.MULTILINE | re.IGNORECASE)
_END: Final = re.compile(r"[ \t]*@endmindmap\b", re.IGNORECASE)
_TOPIC: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<marks>[*#]+|[+-]+)(?:\[#[^\]\s]{0,200}\])?_?"
    r"(?:(?P<colon>:)|[ \t]+(?=\S)|(?<=[+_\]-])(?=[^\s*#_+-]))(?P<text>.*)"
)
_LAST: Final = re.compile(r"(?P<text>.*);[ \t]*(?:<<[^<>]{1,200}>>[ \t]*)?")
_STEREOTYPE: Final = re.compile(r"<<[^<>]{1,200}>>[ \t]*$")
_SIDE: Final = re.compile(r"[ \t]*(left|right)[ \t]+side\b", re.IGNORECASE)
_LINK: Final = re.compile(
    r"\[\[([^\s\[\]{}|]{1,2000})(?:\{[^{}]{0,500}\})?(?:[ \t|]([^\[\]]{0,2000}))?\]\]"
)
_TAG: Final = re.compile(
    r"</?(?:b|i|u|s|w|sub|sup|code|plain|(?:color|size|font|back|img)\b[^<>]{0,200})>"
    r"|<[&#][^<>]{1,100}>",
    re.IGNORECASE,
)
_MARKED: Final = re.compile(
    r"(?P<mark>\*\*|\"\"|__|~~|(?<!:)//)(?=\S)(?P<text>(?:(?!(?P=mark)).){1,2000})(?<=\S)(?P=mark)"
)
_BLOCKS: Final = (
    (re.compile(r"\s*/'"), re.compile(r".*'/")),
    (re.compile(r"\s*<style>", re.IGNORECASE), re.compile(r"\s*</style>", re.IGNORECASE)),
    (
        re.compile(
            r"\s*(?:(?:left|right|center|top|bottom)\s+)*(?:legend|title|header|footer)\b"
            r"(?:\s+(?:left|right|center|top|bottom))*\s*$",
            re.IGNORECASE,
        ),
        re.compile(r"\s*end\s?(?:legend|title|header|footer)\b", re.IGNORECASE),
    ),
)
"""Patterns of the first and last lines of blocks without topics."""


def sniff(content: Content) -> bool:
    """Return whether ``content`` contains a PlantUML mind map, even among other text."""
    if content.archive is not None or "startmindmap" not in content.text.lower():
        return False
    return _START.search(content.text) is not None


def read(content: Content) -> Outline:
    """Return the outline of the PlantUML mind maps in a text.

    Raises:
        BrokenFile: it has no topic.
        TooLarge: it exceeds a limit.
    """
    levels = Levels(content.limits)
    lines = iter(content.lines)
    for line in lines:
        if _START.match(line):
            _add_block(lines, levels)
    return Outline(sheets=sheets_of(regrow(levels.roots, content.limits)), software="PlantUML")


def _add_block(lines: Iterator[str], levels: Levels) -> None:
    first = ""
    side = "+"
    for line in _content(lines):
        turn = _SIDE.match(line)
        found = _TOPIC.fullmatch(line)
        if turn:
            side = "-" if turn[1].lower() == "left" else "+"
        elif found:
            marks = found["indent"] + found["marks"]
            first = first or marks
            text = found["text"]
            if found["colon"]:
                text = "\n".join(_paragraph(text, lines))
            direction = found["marks"][0] if found["marks"][0] in "+-" else side
            levels.add(_level(marks, first), _topic(text), direction)


def _content(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the end of the mind map, without comments and ``_BLOCKS``."""
    for line in lines:
        if _END.match(line):
            return
        for start, end in _BLOCKS:
            if start.match(line):
                _skip(line, lines, end)
                break
        else:
            if not line.lstrip().startswith("'"):
                yield line


def _skip(line: str, lines: Iterator[str], end: re.Pattern[str]) -> None:
    while not end.match(line):
        following = next(lines, None)
        if following is None:
            return
        line = following


def _level(marks: str, first: str) -> int:
    """Return the level of a topic.

    The level is the number of marks, minus one. A single ``*`` or ``#`` counts its indentation
    instead.

    Args:
        marks: the marks of the topic, with the indentation before them.
        first: the same for the first topic of the mind map; indentation counts from there.
    """
    bare = marks.strip()
    if len(bare) > 1 or bare in "+-":
        return len(bare) - 1
    return len(marks) - len(first) if marks.endswith(first) else len(marks) - 1


def _paragraph(text: str, lines: Iterator[str]) -> Iterator[str]:
    while True:
        last = _LAST.fullmatch(text)
        if last:
            yield last["text"]
            return
        yield text
        following = next(lines, None)
        if following is None or _END.match(following):
            return
        text = following


def _topic(text: str) -> Topic:
    text = _STEREOTYPE.sub("", text)
    links = tuple(link[1] for link in _LINK.finditer(text))
    text = _LINK.sub(lambda link: link[2] or link[1], text)
    text = _MARKED.sub(r"\g<text>", _TAG.sub("", text))
    return Topic(text.replace("\\n", "\n"), links=links)
