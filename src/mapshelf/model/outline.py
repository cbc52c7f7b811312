"""What is in a map: sheets with trees of topics, and everything that authors attach to a topic.

Every reader makes these types, whatever the format. Programs differ in what they call things; here
each has one place and one name. Topics are small mutable trees, all else is immutable.

* A sheet has one central topic. What hangs from none of its topics is beside it: floating topics,
  summaries, and relationships and boundaries, which name the topics they are about by their ids.
* Colours are ``#rrggbb``, empty if the author set none. Lengths are pixels of the author's screen,
  positions count from the middle of the central topic, to the right and down.
* Dates of tasks are as ISO 8601 writes them, a day or a minute: ``2026-01-31``,
  ``2026-01-31T09:30``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple


class TopicKind(StrEnum):
    """How a topic belongs to the map."""

    ATTACHED = "attached"
    """A branch of the topic above it, or a central topic."""
    CALLOUT = "callout"
    """A remark on the topic above it."""
    FLOATING = "floating"
    """It stands alone on the sheet, with the topics below it."""
    SUMMARY = "summary"
    """It sums up several siblings (``Summary``)."""


class Marker(NamedTuple):
    """An icon that the author put on a topic.

    Attributes:
        name: what it means, in the words of ``model.markers``, the same for all programs.
        original: what the program that made the map calls it.
    """

    name: str
    original: str


TASK_STATES: Final = ("todo", "started", "paused", "done", "cancelled")
"""What a task can be in the middle of."""


@dataclass(frozen=True, slots=True)
class Task:
    """What the author planned about a topic.

    Attributes:
        state: one of ``TASK_STATES``, empty if not said.
        progress: per cent done, ``None`` if not said.
        priority: 1 (highest) to 9, ``None`` if not said.
        start: date it begins, see the module; empty if not said.
        due: date it has to be done by, likewise.
        resources: who or what works on it.
    """

    state: str = ""
    progress: int | None = None
    priority: int | None = None
    start: str = ""
    due: str = ""
    resources: tuple[str, ...] = ()


class Image(NamedTuple):
    """A picture in a topic.

    Attributes:
        digest: SHA-256 of its bytes in hexadecimal digits, empty if the picture is not there.
        width: how wide the author shows it, 0 if the file does not say.
        height: how high, likewise. One of both is enough; without any, its own size counts.
        alt: what it shows, or its file name.
    """

    digest: str
    width: float = 0.0
    height: float = 0.0
    alt: str = ""


class Attachment(NamedTuple):
    """A file that the author put into the map, with its size in bytes; 0 if unknown."""

    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Style:
    """How a topic looks in its file: as its author made it, else as the theme of the map says.

    Attributes:
        text: colour of the words.
        fill: colour behind them.
        line: colour of the line to the topic above, and of its branch.
        border: colour of the outline of its shape.
        bold: whether the words are bold.
        italic: whether they are italic.
        size: of the letters in points, 0 if not set.
        shape: ``rectangle``, ``rounded``, ``ellipse``, ``underline``, ``diamond``, ``hexagon``,
            ``cloud`` or ``none``; empty if not set or not known.
        line_width: of the line to the topic above, in pixels, 0 if not set.
    """

    text: str = ""
    fill: str = ""
    line: str = ""
    border: str = ""
    bold: bool = False
    italic: bool = False
    size: float = 0.0
    shape: str = ""
    line_width: float = 0.0


@dataclass(slots=True)
class Topic:
    """One topic of a map, with its children in the order the author gave them.

    Attributes:
        text: its text, plain, possibly of several lines.
        id: identifies it within the map, empty until it gets one (``readers.parsing.topic_ids``).
        note: the note attached to it, plain text, empty if none.
        note_html: the same note as HTML that is safe to show, empty if it is plain.
        links: what it links to, as ``formats.links`` understands it: URLs, paths, and ``#ID`` for
            a topic of this map. Never fetched.
        children: the topics below it.
        text_html: its text as HTML that is safe to show, empty if it is plain.
        kind: how it belongs to the map.
        markers: its icons.
        tags: words the author filed it under (labels, keywords).
        task: what is planned about it.
        attributes: names and values.
        images: the pictures in it.
        attachments: the files in it.
        formula: mathematics in LaTeX, without the signs around it.
        style: how it looks, ``None`` if the author left that to the program.
        folded: whether the author hid what is below it.
        side: ``left`` or ``right`` of the central topic, of a main topic if the author chose.
        position: of its middle, if the author placed it.
    """

    text: str
    id: str = ""
    note: str = ""
    note_html: str = ""
    links: tuple[str, ...] = ()
    children: list["Topic"] = field(default_factory=list)
    text_html: str = ""
    kind: TopicKind = TopicKind.ATTACHED
    markers: tuple[Marker, ...] = ()
    tags: tuple[str, ...] = ()
    task: Task | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    images: tuple[Image, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    formula: str = ""
    style: Style | None = None
    folded: bool = False
    side: str = ""
    position: tuple[float, float] | None = None

    def facts(self) -> list[str]:
        """Return the words of what is attached to it besides the note, see ``topic_facts``."""
        resources = self.task.resources if self.task else ()
        files = [file.name for file in self.attachments]
        return topic_facts(self.tags, self.attributes, resources, files, self.formula)

    def walk(self) -> Iterator[tuple[int, "Topic"]]:
        """Yield this topic and all topics below it, in order, with their depth (0 for this one)."""
        stack: list[tuple[int, Topic]] = [(0, self)]
        while stack:
            depth, topic = stack.pop()
            yield depth, topic
            if topic.children:
                below = depth + 1
                stack += [(below, child) for child in reversed(topic.children)]


def topic_facts(
    tags: Sequence[str],
    attributes: Iterable[Sequence[str]],
    resources: Sequence[str],
    files: Sequence[str],
    formula: str,
) -> list[str]:
    """Return a line for each kind of words that are attached to a topic, so that search has them.

    Not among them are the names of pictures, which programs make up, and of markers: ``idea`` would
    find every map with a light bulb.
    """
    lines = (", ".join(tags), *map(": ".join, attributes), ", ".join(resources), ", ".join(files))
    return [line for line in (*lines, formula) if line]


class Relationship(NamedTuple):
    """An arrow between two topics: the ids of both, and the words on it."""

    start: str
    end: str
    text: str = ""
    colour: str = ""


class Boundary(NamedTuple):
    """A line around topics and everything below them: their ids, and the words on it."""

    topics: tuple[str, ...]
    text: str = ""
    colour: str = ""


class Summary(NamedTuple):
    """A brace beside sibling topics, given by their ids, and the topic that sums them up."""

    topics: tuple[str, ...]
    topic: Topic


@dataclass(frozen=True, slots=True)
class Sheet:
    """One canvas of a map.

    Attributes:
        root: its central topic.
        title: its name, empty if it has none of its own.
        floating: topics that stand alone, with what hangs from them.
        relationships: arrows between topics of the sheet.
        boundaries: lines around topics of the sheet.
        summaries: topics that sum up others.
        background: colour behind everything.
        clockwise: whether the main topics go around the central one as the hands of a clock do: on
            the left, the first is at the bottom.
    """

    root: Topic
    title: str = ""
    floating: tuple[Topic, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    summaries: tuple[Summary, ...] = ()
    background: str = ""
    clockwise: bool = False

    def trees(self) -> tuple[Topic, ...]:
        """Return every topic of the sheet that hangs from no other, the central one first."""
        return (self.root, *self.floating, *(summary.topic for summary in self.summaries))

    def topics(self) -> Iterator[Topic]:
        """Yield every topic of the sheet, tree by tree."""
        for tree in self.trees():
            yield from (topic for _, topic in tree.walk())


def sheets_of(roots: Iterable[Topic]) -> tuple[Sheet, ...]:
    """Return a sheet for each central topic, with nothing beside it."""
    return tuple(map(Sheet, roots))


@dataclass(frozen=True, slots=True)
class Outline:
    """The result of reading a map file, the same for every format.

    Attributes:
        sheets: the sheets of the file; at least one.
        software: name of the program that wrote the file, empty if the file does not say.
        software_version: its version, likewise.
        template: whether the format marks the file as a template.
        author: who made the map, empty if the file does not say.
        copyright: copyright or licence statement, likewise.
        created: when it was made, milliseconds since 1970-01-01 UTC, if the file says so.
        modified: when it was last edited, likewise.
        language: ISO 639-1 code of its language, empty if unsure. It is not read from the file but
            guessed from the text (``readers.summary.language``).
        picture: digest of the picture of the map in the file, empty if there is none that can be
            shown (``readers.parsing.pictures``).
    """

    sheets: tuple[Sheet, ...]
    software: str = ""
    software_version: str = ""
    template: bool = False
    author: str = ""
    copyright: str = ""
    created: int | None = None
    modified: int | None = None
    language: str = ""
    picture: str = ""

    @property
    def roots(self) -> tuple[Topic, ...]:
        """The central topics, one for each sheet."""
        return tuple(sheet.root for sheet in self.sheets)

    def trees(self) -> Iterator[Topic]:
        """Yield every topic that hangs from no other, sheet by sheet."""
        for sheet in self.sheets:
            yield from sheet.trees()

    def topics(self) -> Iterator[tuple[int, Topic]]:
        """Yield every topic of every sheet with its depth in its tree, in document order."""
        for tree in self.trees():
            yield from tree.walk()

    @property
    def topic_count(self) -> int:
        """Number of topics in all sheets together."""
        return sum(1 for _ in self.topics())

    @property
    def depth(self) -> int:
        """Levels of topics in the deepest tree, its root counting as one."""
        return 1 + max((depth for depth, _ in self.topics()), default=-1)
