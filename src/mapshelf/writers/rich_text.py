"""Split the formatted text of a topic into runs of uniform formatting.

Each format has its own marks for bold words, so writers need to know where each run begins and
ends. Text with block elements (lists, tables) is not split and is written as plain text.
"""

import re
from html.parser import HTMLParser
from typing import Final, NamedTuple

from mapshelf.model import Topic
from mapshelf.writers.plain import sound

MARKS: Final = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "s": "struck",
    "del": "struck",
    "code": "code",
}
"""The formatting of inline HTML elements."""

_SILENT: Final = frozenset({"a", "br", "font", "p", "small", "span", "sub", "sup"})
_BLANKS: Final = re.compile(r"[ \t\n\r]+")


class Run(NamedTuple):
    """A piece of text and its formatting."""

    text: str
    marks: frozenset[str]


def runs_of(topic: Topic) -> list[Run]:
    """Return the runs of the text of ``topic``; none if it is plain or has block elements.

    Joined, they equal its text without surrounding white space.
    """
    if not topic.text_html:
        return []
    parser = _Runs()
    parser.feed(topic.text_html)
    parser.close()
    runs = [run for run in parser.runs if run.text]
    same = "".join(run.text for run in runs) == sound(topic.text)
    return runs if same and any(run.marks for run in runs) and not parser.strange else []


class _Runs(HTMLParser):
    """Collects the runs of inline HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.runs: list[Run] = []
        self.strange = False
        self._open: list[str] = []
        self._paragraphs = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in MARKS:
            self._open.append(MARKS[tag])
        elif tag == "br":
            self.runs.append(Run("\n", frozenset()))
        elif tag == "p":
            self.strange |= self._paragraphs > 0
            self._paragraphs += 1
        else:
            self.strange |= tag not in _SILENT

    def handle_endtag(self, tag: str) -> None:
        if tag in MARKS and MARKS[tag] in self._open:
            self._open.remove(MARKS[tag])

    def handle_data(self, data: str) -> None:
        text = sound(_BLANKS.sub(" ", data))
        marks = frozenset(self._open)
        if self.runs and self.runs[-1].marks == marks:
            text = self.runs.pop().text + text
        self.runs.append(Run(text, marks))
