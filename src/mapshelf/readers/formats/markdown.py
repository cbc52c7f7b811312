"""Read Markmap and other Markdown: headings and list items are topics, other blocks are notes.

This is how Markmap's guide describes it (markmap.js.org, "Writing maps"). Most Markdown is not
meant as a map, and its content does not show whether it is. So the content identifies only files
with the key ``markmap`` in the front matter. Other files are read if they have the extension of
Markdown; in folders, only those named ``.mm.md`` or ``.markmap.md`` are read (see ``READERS``).

* If there is a single topic at the highest level, it is the central topic. Otherwise the ``title``
  of the front matter is. Without a title, each topic of the highest level is a sheet.
* ``tags`` and ``keywords`` of the front matter are tags of the central topic.
* Paragraphs, quotations, tables and code blocks are notes of the topic before them.
* Links are kept. Emphasis is kept as HTML in addition to the plain text; other HTML is removed.
* The checkbox of a task becomes a character (☐ or ☑) and sets the state of the task.
  ``<!-- markmap: fold -->`` folds a topic. Formulas are between dollar signs.

No Markdown library is used: the available ones recurse with the depth of lists, or take quadratic
time for hostile input. This module parses only blocks, line by line; ``inline_markdown`` converts
the text in them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mapshelf.model import Outline, Task, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.flat_tree import Levels, regrow
from mapshelf.readers.parsing.formulas import formulas_in
from mapshelf.readers.parsing.inline_markdown import inline_markdown

_SUFFIXES: Final = (".md", ".markdown")
_HEAD: Final = 16_384
_FRONT: Final = re.compile(r"---[ \t]*\n((?:(?!---|\.\.\.)[^\n]*\n)*)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_MARKED: Final = re.compile(r"^markmap[ \t]*:", re.MULTILINE)
_TITLE: Final = re.compile(r"^title[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_TAGS: Final = re.compile(
    r"^(?:tags|keywords)[ \t]*:[ \t]*(?:\[([^\]\n]*)\]|(\S[^\n]*)|((?:\n[ \t]*-[ \t]+[^\n]*)+))",
    re.M,
)
"""The three notations of tags: a list in brackets, separated by commas, or one per line."""

_STRUCTURE: Final = re.compile(r"^(?:#{1,6}[ \t]+\S|[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S)", re.M)

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_CLOSING: Final = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_ITEM: Final = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*))?")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LISTS: Final = 10
"""Level of the outermost list items, below all levels of headings."""

_CODE: Final = 4
"""Maximum number of spaces after a list marker; more than that start an indented code block."""

_BOX: Final = re.compile(r"\[([ xX])\](?=\s)")
_FOLDING: Final = re.compile(r"\s*markmap:\s*fold(?:All)?\s*")
_FOLD: Final = re.compile("\0fold\0")
_STATES: Final = {"☐": Task("todo"), "☑": Task("done")}


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a Markdown outline: marked as a map, or named as Markdown."""
    if content.archive is not None or "\0" in content.text[:_HEAD]:
        return False
    front = _front_matter(content)
    if front and _MARKED.search(front[1]):
        return True
    named = content.name.lower().endswith(_SUFFIXES)
    return named and _STRUCTURE.search(content.text) is not None


def read(content: Content) -> Outline:
    """Return the outline of a Markdown text.

    Raises:
        BrokenFile: it has no heading and no list.
        TooLarge: it exceeds a limit.
    """
    front = _front_matter(content)
    begin = front[0].count("\n") if front else 0
    document = _Document(Levels(content.limits))
    for line in _without_comments(content.lines[begin:]):
        document.add(line)
    title = _TITLE.search(front[1]) if front else None
    roots = document.roots(title[1].strip().strip("\"'") if title else "")
    if front and roots:
        roots[0].tags = tuple(_tags(front[1]))
    marked = front is not None and _MARKED.search(front[1]) is not None
    return Outline(
        sheets=sheets_of(regrow(roots, content.limits)),
        software="Markmap" if marked else "Markdown",
    )


def _tags(front: str) -> Iterator[str]:
    for found in _TAGS.finditer(front):
        in_brackets, in_line, below = found.groups()
        for tag in below.splitlines() if below else (in_brackets or in_line or "").split(","):
            yield tag.strip().removeprefix("-" if below else "").strip().strip("\"'").lstrip("#")


def _front_matter(content: Content) -> re.Match[str] | None:
    return _FRONT.match(content.text[:_HEAD].replace("\r\n", "\n"))


def _without_comments(lines: list[str]) -> Iterator[str]:
    """Yield ``lines`` without HTML comments, which may span several lines.

    Code blocks are kept unchanged. A comment that folds a topic becomes a mark (``_FOLD``).
    """
    fence = ""
    inside = False
    for line in lines:
        mark = _FENCE.match(line)
        if fence or (mark and not inside):
            fence = _fence_after(fence, mark)
            yield line
            continue
        kept = []
        rest = line
        while rest:
            before, found, rest = rest.partition("-->" if inside else "<!--")
            if not inside:
                kept.append(before)
            elif _FOLDING.fullmatch(before):
                kept.append("\0fold\0")
            inside ^= bool(found)
        if kept or not line:
            yield "".join(kept)


def _fence_after(fence: str, mark: re.Match[str] | None) -> str:
    """Return the open code fence after a line that begins with ``mark``, empty if none is open."""
    if not fence:
        return mark[1] if mark else ""
    closes = mark is not None and mark[1].startswith(fence)
    return "" if closes else fence


@dataclass(eq=False, slots=True)
class _Draft:
    """A topic that is being read: the lines of its label, and the notes that follow.

    Each note is a paragraph or a code block, with a flag that is true for code blocks, because
    Markdown in them is not converted.
    """

    topic: Topic
    label: list[str]
    notes: list[tuple[str, bool]] = field(default_factory=list)

    def finish(self) -> None:
        """Set the text, note, links, task and formula of the topic from the collected lines."""
        label = " ".join(self.label)
        words, fold = _FOLD.subn("", label)
        self.topic.folded = fold > 0
        self.topic.formula, whole = formulas_in(words) if "$" in words else ("", False)
        if whole:
            self.topic.text = words.strip()
            links: list[str] = []
        else:
            self.topic.text, self.topic.text_html, links = inline_markdown(words)
        notes = [_note(note, is_source=is_source) for note, is_source in self.notes]
        self.topic.note = "\n".join(note for note, _ in notes)
        self.topic.links = (*links, *(link for _, found in notes for link in found))
        self.topic.task = _STATES.get(self.topic.text[:1])


def _note(note: str, *, is_source: bool) -> tuple[str, list[str]]:
    """Return a note as plain text, and the links in it."""
    if is_source:
        return note, []
    text, _, links = inline_markdown(_FOLD.sub("", note))
    return text, links


class _Document:
    """Parses a text line by line."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._preface = _Draft(Topic(""), [])  # text before the first topic
        self._drafts: list[_Draft] = []
        self._heading = self._current = self._preface
        self._items: list[tuple[int, _Draft]] = []  # open items and their content columns
        self._paragraph: list[str] = []
        self._label_open = False  # whether the next line may continue an item's label
        self._fence = ""
        self._source: list[str] = []

    def add(self, line: str) -> None:
        """Add the next line."""
        mark = _FENCE.match(line)
        if self._fence:
            self._go_on_with_source(line, mark)
        elif mark:
            self._flush()
            self._fence = mark[1]
        elif not line.strip():
            self._flush()
        elif not (self._underlined(line) or self._is_heading(line) or self._is_item(line)):
            self._add_words(line)

    def roots(self, title: str) -> list[Topic]:
        """Return the root topics; with a ``title``, several become children of a topic named so."""
        self._flush()
        self._current.notes.append(("\n".join(self._source), True))
        for draft in (self._preface, *self._drafts):
            draft.finish()
        roots = self._levels.roots
        if title and len(roots) != 1:
            roots = [Topic(title, children=roots)]
        if roots:
            preface = self._preface.topic
            roots[0].note = f"{preface.note}\n{roots[0].note}"
            roots[0].links += preface.links
        return roots

    def _go_on_with_source(self, line: str, mark: re.Match[str] | None) -> None:
        self._fence = _fence_after(self._fence, mark)
        if self._fence:
            self._source.append(line)
        else:
            self._current.notes.append(("\n".join(self._source), True))
            self._source = []

    def _underlined(self, line: str) -> bool:
        """Return whether ``line`` underlines a heading, the paragraph before it, or is a rule."""
        underline = _UNDERLINE.fullmatch(line)
        if underline and self._paragraph and not self._items:
            label, self._paragraph = self._paragraph, []
            self._add_heading(1 if underline[1][0] == "=" else 2, label)
            return True
        if _RULE.fullmatch(line):
            self._flush()
            return True
        return False

    def _is_heading(self, line: str) -> bool:
        heading = _HEADING.fullmatch(line)
        if heading is None:
            return False
        self._flush()
        self._add_heading(len(heading[1]), [_CLOSING.sub("", heading[2] or "")])
        return True

    def _add_heading(self, level: int, label: list[str]) -> None:
        self._items = []
        self._heading = self._draft(level, label)

    def _is_item(self, line: str) -> bool:
        item = _ITEM.fullmatch(line)
        if item is None:
            return False
        self._flush()
        indent = _width(item[1])
        self._leave(indent)
        gap = _width(item[3] or " ")
        begin = indent + len(item[2]) + (gap if gap <= _CODE else 1)
        label = [_BOX.sub(_box, item[4] or "", count=1)]
        self._items.append((begin, self._draft(_LISTS + len(self._items), label)))
        self._label_open = True
        return True

    def _draft(self, level: int, label: list[str]) -> _Draft:
        self._current = _Draft(Topic(""), label)
        self._drafts.append(self._current)
        self._levels.add(level, self._current.topic)
        return self._current

    def _leave(self, indent: int) -> None:
        """Close the list items that do not contain text with this indentation."""
        while self._items and self._items[-1][0] > indent:
            self._items.pop()
        self._current = self._items[-1][1] if self._items else self._heading

    def _add_words(self, line: str) -> None:
        words = line.strip()
        if self._label_open:
            self._current.label.append(words)
            return
        if not self._paragraph:
            self._leave(_width(line[: len(line) - len(line.lstrip())]))
        self._paragraph.append(words.lstrip("> "))

    def _flush(self) -> None:
        self._label_open = False
        if self._paragraph:
            self._current.notes.append(("\n".join(self._paragraph), False))
            self._paragraph = []


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(4))


def _box(found: re.Match[str]) -> str:
    return "☐" if found[1] == " " else "☑"
