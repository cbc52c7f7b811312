"""List the differences between two maps: topics added, removed, moved or changed.

Only content is compared. Colours, shapes, positions on the canvas, folding, arrows and boundaries
are ignored. A branch that was added, removed or moved is one difference, however many topics it
has.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from mapshelf.comparison.flat_outline import MAP, FlatOutline, flat, spaced
from mapshelf.comparison.matching import NONE, Pairs, pair_up
from mapshelf.model import Outline, Topic

LONGEST_STEP: Final = 80
"""Maximum characters of each topic in a path, so that long texts are not repeated below them."""

LONGEST_PATH: Final = 8
"""Maximum topics in a path: a longer one keeps the central topic and those nearest the topic."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The position of a topic in a map.

    Attributes:
        topic: id of the topic.
        path: the texts of its ancestors, from the central topic down; long texts are truncated,
            and an empty text stands for omitted topics.
        place: its position among its siblings, from 1.
    """

    topic: str
    path: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch that exists in only one of the maps.

    Attributes:
        spot: position of its top topic.
        text: text of its top topic.
        topics: number of topics in the branch, including the top topic.
        row: row of its top topic.
    """

    spot: Spot
    text: str
    topics: int
    row: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Move:
    """A branch that was moved.

    Attributes:
        before: its former position.
        after: its new position.
        text: current text of its top topic.
        row: row of its top topic in the new map.
    """

    before: Spot
    after: Spot
    text: str
    row: int = field(compare=False)


Facts = dict[str, object]
"""The attachments of a topic, by their names in ``outline.json``."""


@dataclass(frozen=True, slots=True)
class Change:
    """A topic whose content changed.

    Attributes:
        spot: its current position.
        was: its id in the old map.
        text: its current text.
        before: the former values of everything that changed.
        after: the new values.
        row: its row in the new map.
    """

    spot: Spot
    was: str
    text: str
    before: Facts
    after: Facts
    row: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences between two maps, each kind in map order.

    Attributes:
        added: branches that exist only in the new map.
        removed: branches that exist only in the old map.
        moved: branches with a new parent, or with a new position among their siblings.
        changed: topics whose content changed.
        pairs: the matched topics.
    """

    added: list[Branch]
    removed: list[Branch]
    moved: list[Move]
    changed: list[Change]
    pairs: Pairs = field(compare=False, repr=False)

    def __len__(self) -> int:
        """Return the number of differences."""
        return len(self.added) + len(self.removed) + len(self.moved) + len(self.changed)


def compare(before: Outline, after: Outline) -> Comparison:
    """Return the differences between two maps, or two versions of one."""
    pairs = pair_up(flat(before), flat(after))
    return Comparison(
        added=_branches(pairs.after, pairs.back),
        removed=_branches(pairs.before, pairs.forward),
        moved=_moves(pairs),
        changed=_changes(pairs),
        pairs=pairs,
    )


def _branches(rows: FlatOutline, others: list[int]) -> list[Branch]:
    """Return the branches of unpaired topics."""
    counts = [int(other == NONE) for other in others]
    for row in range(len(others) - 1, MAP, -1):
        above = rows.parents[row]
        if others[row] == NONE and others[above] == NONE:
            counts[above] += counts[row]
    return [
        Branch(_spot(rows, row), rows.topics[row].text, counts[row], row)
        for row, other in enumerate(others)
        if other == NONE and others[rows.parents[row]] != NONE
    ]


def _moves(pairs: Pairs) -> list[Move]:
    before, after = pairs.before, pairs.after
    moved = []
    for above in range(len(after.topics)):
        stayed = []
        for child in after.children[above]:
            old = pairs.back[child]
            if old == NONE:
                continue
            if pairs.forward[before.parents[old]] == above:
                stayed.append(child)
            else:
                moved.append(child)
        order = [before.places[pairs.back[child]] for child in stayed]
        kept = _longest_rising(order)
        moved += [child for at, child in enumerate(stayed) if at not in kept]
    return [
        Move(_spot(before, pairs.back[row]), _spot(after, row), after.topics[row].text, row)
        for row in sorted(moved)
    ]


def _longest_rising(numbers: list[int]) -> set[int]:
    """Return the positions of a longest increasing subsequence.

    All other topics count as moved, so a topic dragged to the end is one move rather than one for
    each topic it passed.
    """
    lasts: list[int] = []  # smallest last number of a subsequence, by length
    at: list[int] = []  # positions of these numbers
    previous = [NONE] * len(numbers)
    for place, number in enumerate(numbers):
        length = bisect_left(lasts, number)
        lasts[length:] = [number, *lasts[length + 1 :]] if length < len(lasts) else [number]
        at[length : length + 1] = [place]
        previous[place] = at[length - 1] if length else NONE
    kept = set()
    place = at[-1] if at else NONE
    while place != NONE:
        kept.add(place)
        place = previous[place]
    return kept


def _changes(pairs: Pairs) -> list[Change]:
    before, after = pairs.before, pairs.after
    news = {
        before.topics[old].id: after.topics[new].id
        for old, new in enumerate(pairs.forward)
        if new != NONE
    }
    found = []
    for row in range(MAP + 1, len(after.topics)):
        old = pairs.back[row]
        if old == NONE:
            continue
        one, other = before.topics[old], after.topics[row]
        left, right = _difference(one, other, news)
        if left:
            found.append(Change(_spot(after, row), one.id, other.text, left, right, row))
    return found


def _difference(one: Topic, other: Topic, news: dict[str, str]) -> tuple[Facts, Facts]:
    """Return the values that differ between two topics, before and after.

    Args:
        one: the topic in the old map.
        other: the topic in the new map.
        news: ids of topics in the new map, by their ids in the old one.
    """
    before: Facts = {}
    after: Facts = {}
    for name, (fact, worth) in _FACTS.items():
        left, right = fact(one), fact(other)
        if left == right or worth(left) == worth(right):
            continue
        if name == "links" and _links_after(one.links, news) == other.links:
            continue
        before[name], after[name] = left, right
    return before, after


def _links_after(links: Iterable[str], news: dict[str, str]) -> tuple[str, ...]:
    """Translate links to topics of the old map into links to topics of the new one."""
    return tuple(f"#{news.get(one[1:], one[1:])}" if one[:1] == "#" else one for one in links)


def _words(value: object) -> object:
    return spaced(str(value))


def _as_is(value: object) -> object:
    return value


def _task(topic: Topic) -> Facts:
    task = topic.task
    if task is None:
        return {}
    values = {name: getattr(task, name) for name in task.__slots__}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value not in ("", None, ())
    }


def _markers(topic: Topic) -> list[str]:
    # Their order is not significant.
    return sorted({marker.name for marker in topic.markers if marker.name})


_FACTS: Final[dict[str, tuple[Callable[[Topic], object], Callable[[object], object]]]] = {
    "text": (lambda topic: topic.text, _words),
    "note": (lambda topic: topic.note, _words),
    "links": (lambda topic: list(topic.links), _as_is),
    "markers": (_markers, _as_is),
    "tags": (lambda topic: list(topic.tags), _as_is),
    "task": (_task, _as_is),
    "attributes": (lambda topic: [list(pair) for pair in topic.attributes], _as_is),
    "images": (lambda topic: [image.digest or image.alt for image in topic.images], _as_is),
    "attachments": (lambda topic: [file.name for file in topic.attachments], _as_is),
    "formula": (lambda topic: topic.formula, _words),
}
"""The compared attachments, each with a function that normalizes insignificant differences."""

NAMES: Final = tuple(_FACTS)


def _spot(rows: FlatOutline, row: int) -> Spot:
    path: list[str] = []
    above = rows.parents[row]
    while above != MAP:
        path.append(rows.texts[above][:LONGEST_STEP])
        above = rows.parents[above]
    path.reverse()
    if len(path) > LONGEST_PATH:
        path[1 : 2 - LONGEST_PATH] = [""]
    return Spot(rows.topics[row].id, tuple(path), rows.places[row] + 1)


def counted(branches: Iterable[Branch]) -> int:
    """Return the total number of topics in these branches."""
    return sum(branch.topics for branch in branches)
