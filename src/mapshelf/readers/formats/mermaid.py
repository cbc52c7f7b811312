"""Read Mermaid mind maps (``.mmd``, ``.mermaid``): the keyword ``mindmap``, then indented lines.

This module follows Mermaid's documentation and the grammar of its parser. A line is a topic; its
indentation determines its level. The text may be in brackets, which set the shape, with an id
before them. Then only the text in the brackets is shown.

* Text in quotation marks may span several lines. Backticks inside them mark it as Markdown.
* Icons, classes, comments, directives and the front matter are ignored.
* Mermaid rejects a second root; here it becomes a second sheet.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.flat_tree import Levels, regrow

_HEAD: Final = 16_384
_PROLOG: Final = re.compile(
    r"\s*(?:---[ \t]*\n(?:(?!---)[^\n]*\n)*---[ \t]*\n\s*)?"  # front matter
    r"(?:%%[^\n]*\n\s*)*"  # comments and directives of one line
    r"mindmap[ \t]*(?=\n|%%|\Z)",
    re.IGNORECASE,
)
_SHAPES: Final = {
    "((": "))",
    "{{": "}}",
    "))": "((",
    "(-": "-)",
    "-)": "(-",
    "(": ")",
    "[": "]",
    ")": "(",
}
_OPENING: Final = re.compile("|".join(map(re.escape, _SHAPES)))
_COMMENT: Final = re.compile(r"(?:^|\s)%%.*")
_CLASS: Final = re.compile(r":::[^\n]*$")
_BREAK: Final = re.compile(r"<br\s{0,9}/?>", re.IGNORECASE)
_ENTITY: Final = re.compile(r"#([0-9]{1,7}|[A-Za-z]{2,32});")
_EMPHASIS: Final = re.compile(r"(\*{1,3})(?=\S)([^*\n]{1,2000})(?<=\S)\1")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a Mermaid mind map, not another kind of diagram."""
    return content.archive is None and _prolog(content) is not None


def read(content: Content) -> Outline:
    """Return the outline of a Mermaid mind map.

    Raises:
        BrokenFile: it has no topic.
        TooLarge: it exceeds a limit.
    """
    prolog = _prolog(content)
    lines = iter(content.lines[prolog[0].count("\n") + 1 if prolog else 0 :])
    levels = Levels(content.limits)
    for level, words in _nodes(lines):
        levels.add(level, Topic(words))
    return Outline(sheets=sheets_of(regrow(levels.roots, content.limits)), software="Mermaid")


def _prolog(content: Content) -> re.Match[str] | None:
    return _PROLOG.match(content.text[:_HEAD].replace("\r\n", "\n"))


def _nodes(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    """Yield the indentation and text of every topic."""
    for line in lines:
        body = line.lstrip()
        level = len(line) - len(body)
        if not body or body.startswith(("%%", "::")):
            continue
        opening = _OPENING.search(body)
        rest = body[opening.end() :].lstrip() if opening else ""
        if rest.startswith('"'):
            yield level, _quoted(rest[1:], lines)
            continue
        body = _CLASS.sub("", _COMMENT.sub("", body)).strip()
        if body:
            yield level, _plain(_inside(body))


def _inside(body: str) -> str:
    """Return the text in the brackets of a shape, or all of ``body`` without such brackets."""
    opening = _OPENING.search(body)
    if opening is None:
        return body
    end = body.rfind(_SHAPES[opening[0]], opening.end())
    return body if end < 0 else body[opening.end() : end]


def _quoted(text: str, lines: Iterator[str]) -> str:
    """Return the text up to the closing quotation mark, which may be on a later line."""
    pieces = []
    while '"' not in text:
        pieces.append(text.strip())
        following = next(lines, None)
        if following is None:
            break
        text = following
    else:
        pieces.append(text.partition('"')[0].strip())
    words = "\n".join(pieces)
    if words.startswith("`"):
        words = _EMPHASIS.sub(r"\2", words.strip("`"))
    return _plain(words)


def _plain(words: str) -> str:
    words = _BREAK.sub("\n", words.strip())
    return _ENTITY.sub(_character, words)


def _character(entity: re.Match[str]) -> str:
    name = entity[1]
    return html.unescape(f"&#{name};" if name.isdigit() else f"&{name};")
