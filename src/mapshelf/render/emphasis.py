"""Mark bold, italic, underlined and struck-through text and code in the lines of a topic.

If any word is bold, lines are broken as if all words were bold, so that no text exceeds its line.
Then each run is measured in its own font face, so that boxes fit their content. Code has the same
font with a border around it, because Mapshelf does not ship a monospaced font.
"""

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import groupby
from operator import itemgetter
from typing import Final

from mapshelf.model import Topic
from mapshelf.render.fonts import Font, font
from mapshelf.render.wrapping import ELLIPSIS, Line, Part
from mapshelf.writers.plain import sound
from mapshelf.writers.rich_text import MARKS, Run

_MARKED: Final = re.compile(rf"<(?:{'|'.join(MARKS)})[\s>]", re.IGNORECASE)
_LONGEST: Final = 20_000
"""Maximum characters of HTML. Longer text is drawn without formatting: parsing all of it for its
first lines would take too long."""


def marked_runs(topic: Topic) -> Sequence[Run]:
    """Return the text of a topic in runs with formatting; empty if the text has none."""
    source = topic.text_html
    if not source or len(source) > _LONGEST or not _MARKED.search(source):
        return ()
    parser = _Marked()
    parser.feed(source)
    parser.close()
    runs = _runs(sound(topic.text), parser.letters)
    if runs and topic.number:
        return [Run(f"{sound(topic.number)} ", frozenset()), *runs]
    return runs


def _runs(text: str, letters: Sequence[tuple[str, frozenset[str]]]) -> Sequence[Run]:
    """Return the runs of ``text``, with the formatting that its characters have in the HTML.

    White space, line ends and list bullets differ between HTML and plain text. Such characters get
    the formatting that the characters before and after them share. If other characters differ, too,
    the result is empty: no formatting is better than a wrong one.

    Args:
        text: the plain text.
        letters: the characters of the HTML without white space, each with its formatting.
    """
    marks: list[frozenset[str]] = []
    at = 0
    for char in text:
        if at < len(letters) and char == letters[at][0]:
            marks.append(letters[at][1])
            at += 1
        else:
            after = letters[at][1] if at < len(letters) else frozenset()
            marks.append(marks[-1] & after if marks else frozenset())
    if at < len(letters):
        return ()
    groups = groupby(zip(text, marks, strict=True), key=itemgetter(1))
    return [Run("".join(char for char, _ in group), some) for some, group in groups]


def has_bold(runs: Sequence[Run]) -> bool:
    """Return whether any run is bold."""
    return any("bold" in run.marks for run in runs)


def emphasised(
    lines: Sequence[Line], runs: Sequence[Run], *, bold: bool, italic: bool
) -> tuple[Line, ...]:
    """Return lines with formatted parts, each measured in its own font face.

    Args:
        lines: the lines of the text.
        runs: the same text with formatting, from ``marked_runs``.
        bold: whether all words are bold.
        italic: whether all words are italic.
    """
    whole = "".join(run.text for run in runs)
    marked, at = [], 0
    for line in lines:
        shown, end = line.text, ""
        start = whole.find(shown, at)
        if start < 0 and shown.endswith(ELLIPSIS):
            shown, end = shown.removesuffix(ELLIPSIS), ELLIPSIS
            start = whole.find(shown, at)
        if start < 0:  # not in the runs: the LaTeX of a formula below the text
            marked.append(line)
            continue
        at = start + len(shown)
        cut = list(_cut(runs, start, at))
        if end:
            cut.append((end, frozenset()))
        parts = tuple(
            Part(text, _face(marks, bold=bold, italic=italic).width(text), marks)
            for text, marks in cut
        )
        width = sum(part.width for part in parts)
        marked.append(Line(line.text, width, parts if any(part.marks for part in parts) else ()))
    return tuple(marked)


def _cut(runs: Sequence[Run], start: int, end: int) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the text between two offsets in the runs, in pieces with their formatting."""
    at = 0
    for run in runs:
        inside = run.text[max(0, start - at) : max(0, end - at)]
        if inside:
            yield inside, run.marks
        at += len(run.text)
        if at >= end:
            return


def _face(marks: frozenset[str], *, bold: bool, italic: bool) -> Font:
    return font(bold=bold or "bold" in marks, italic=italic or "italic" in marks)


class _Marked(HTMLParser):
    """Collects the characters of HTML, without white space, each with its formatting."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.letters: list[tuple[str, frozenset[str]]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in MARKS:
            self._open.append(MARKS[tag])

    def handle_endtag(self, tag: str) -> None:
        if tag in MARKS and MARKS[tag] in self._open:
            self._open.remove(MARKS[tag])

    def handle_data(self, data: str) -> None:
        marks = frozenset(self._open)
        self.letters += [(char, marks) for char in sound(data) if not char.isspace()]
