"""The features to count, and the rules that say where a format stores them.

``FEATURES`` defines each feature once, for all formats. A ``Rule`` adds where one format stores it,
in words for the author of a reader, and as code that counts it. A format without a rule for a
feature cannot store it, or nobody knows where.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from feature_counts.raw_files import RawFile

Part = TypeVar("Part")
"""What a topic is in a format: an XML element, a JSON object, a piece of text."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that authors put into maps."""

    name: str
    unit: str
    meaning: str


FEATURES: Final = (
    Feature(
        "topics",
        "topics",
        "central, ordinary, floating, summary and callout topics; neither labels of relationships"
        " nor brackets without words",
    ),
    Feature(
        "notes",
        "topics",
        "a note with at least one word, whatever its form; a note of nothing but pictures is none",
    ),
    Feature(
        "markers",
        "things",
        "icons, flags, emoji and priority signs chosen for a topic, each once for every topic that"
        " has it; signs that stand for task facts only where the file keeps them as signs",
    ),
    Feature("tags", "things", "labels, tags, keywords of a topic, each once for each topic"),
    Feature(
        "links",
        "things",
        "different targets of each topic, in its field for links or in its rich text, whether or"
        " not they lead anywhere; not those in notes, nor pictures and attachments",
    ),
    Feature(
        "images",
        "things",
        "pictures of topics and in their rich text or notes that can be had: in the archive (the"
        " member exists), as data, or at a relative path; not on the web, not at an absolute path"
        " (another person's disk), not renderings of formulas",
    ),
    Feature("attachments", "things", "files in the archive that are attached to a topic"),
    Feature("relationships", "things", "arrows from one topic of the map to another one of it"),
    Feature("relationship_labels", "things", "of these, those with words of the author at them"),
    Feature("boundaries", "things", "clouds, boundaries, frames and groups around topics"),
    Feature("summaries", "things", "brackets that sum up topics and have a topic of their own"),
    Feature(
        "floating", "topics", "topics beside the central one; of each such tree only the uppermost"
    ),
    Feature("callouts", "topics", "topics that speak about another topic or about a boundary"),
    Feature(
        "task",
        "topics",
        "a fact of a task in a field for it: state, progress, priority, date, effort, resource;"
        " icons alone are markers",
    ),
    Feature("attributes", "things", "pairs of name and value"),
    Feature("formulas", "topics", "a mathematical formula that the program would draw"),
    Feature(
        "folded", "topics", "folded topics that have something to hide: a leaf's flag is no fold"
    ),
    Feature(
        "colours",
        "topics",
        "colour of text, fill, border or line at the topic itself, or in a style that the topic"
        " names and that exists; not from themes, levels or conditions, and not transparent",
    ),
    Feature(
        "shapes",
        "topics",
        "a line around the words of one topic, chosen for it; counted where a format calls it by"
        " the same name as a line around several topics",
    ),
    Feature("sheets", "things", "sheets with a central topic; 1 where the format has no sheets"),
)


@dataclass(frozen=True, slots=True)
class RawMap(Generic[Part]):
    """A parsed file, before its features are counted."""

    raw: RawFile
    document: Part
    topics: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Rule(Generic[Part]):
    """Where a format stores a feature."""

    feature: str
    where: str
    count: Callable[[RawMap[Part]], int]


@dataclass(frozen=True, slots=True)
class Format(Generic[Part]):
    """A file format: how to recognise and open it, and where it stores each feature."""

    name: str
    open: Callable[[RawFile], RawMap[Part] | None]
    rules: tuple[Rule[Part], ...]

    def count(self, raw: RawFile) -> dict[str, int] | None:
        """Return what a file has of each feature; None if it is of another format."""
        opened = self.open(raw)
        if opened is None or not opened.topics:
            return None
        counts = {feature.name: 0 for feature in FEATURES} | {"sheets": 1}
        return counts | {rule.feature: rule.count(opened) for rule in self.rules}


def each(measure: Callable[[Part], int]) -> Callable[[RawMap[Part]], int]:
    """Return a count that adds up what ``measure`` says about each topic by itself."""
    return lambda opened: sum(int(measure(topic)) for topic in opened.topics)


def each_in(measure: Callable[[RawMap[Part], Part], int]) -> Callable[[RawMap[Part]], int]:
    """Return a count that adds up what ``measure`` says about each topic within its map."""
    return lambda opened: sum(int(measure(opened, topic)) for topic in opened.topics)


def number_of_topics(opened: RawMap[Part]) -> int:
    """Return how many topics a map has."""
    return len(opened.topics)
