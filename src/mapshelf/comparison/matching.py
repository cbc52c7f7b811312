"""Match the topics of one map to the topics of another.

Some programs assign stable ids that survive rewording and moving; for their maps, ids are enough.
Other files have no ids (Markdown, OPML), some programs renumber topics on each save, and a map may
have been converted to another format. Topics without a match by id are matched by text and
position, in this order: equal branches in the same place, equal branches anywhere, equal texts that
occur once, topics with the same subtopics, and topics in the same place with similar words.

Each step visits each topic a fixed number of times, so comparing two maps of 100,000 topics takes
seconds whatever their content. Published algorithms (GumTree, Zhang and Shasha) compare many pairs
and are quadratic when all topics are alike, which untrusted input can exploit.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import Final

from mapshelf.comparison.flat_outline import MAP, FlatOutline

NONE: Final = -1
"""Marks a missing row."""

_MADE: Final = re.compile("t[0-9a-f]{12}")
"""An id derived from the texts on the path (``readers.parsing.topic_ids``), hence not stable."""

_NUMBERED: Final = re.compile(r"\D{0,2}\d{0,5}")
"""A sequential id, which may belong to a different topic in another map."""

_KEPT: Final = 10
"""Ids count as stable if at least one topic in this many has an id found in the other map."""

_ALIKE: Final = 0.5
"""Minimum similarity of a reworded topic to its former text, from 0 to 1; see ``_share``."""

_COMPARED: Final = 80
"""Maximum number of characters compared to compute the similarity."""

_MOST_PAIRS: Final = 64
"""Maximum number of sibling pairs to compare; beyond it, siblings are compared by position."""


class Pairs:
    """The matched topics of two maps.

    Attributes:
        forward: row in the new map for each row of the old one, or ``NONE``.
        back: row in the old map for each row of the new one, or ``NONE``.
    """

    def __init__(self, before: FlatOutline, after: FlatOutline) -> None:
        self.before = before
        self.after = after
        self.forward = [NONE] * len(before.topics)
        self.back = [NONE] * len(after.topics)
        self._fresh: deque[tuple[int, int]] = deque()

    def are_free(self, old: int, new: int) -> bool:
        """Return whether two topics can still be paired."""
        return self.forward[old] == NONE and self.back[new] == NONE

    def add(self, old: int, new: int) -> None:
        """Pair two topics."""
        self.forward[old], self.back[new] = new, old
        self._fresh.append((old, new))

    def fresh(self) -> Iterable[tuple[int, int]]:
        """Yield each pair once, including pairs added during the iteration."""
        while self._fresh:
            yield self._fresh.popleft()

    def free_children(self, old: int, new: int) -> tuple[list[int], list[int]]:
        """Return the unpaired topics below a pair."""
        return (
            [child for child in self.before.children[old] if self.forward[child] == NONE],
            [child for child in self.after.children[new] if self.back[child] == NONE],
        )

    def free(self) -> tuple[list[int], list[int]]:
        """Return all unpaired topics."""
        return (
            [row for row, other in enumerate(self.forward) if other == NONE],
            [row for row, other in enumerate(self.back) if other == NONE],
        )


def pair_up(before: FlatOutline, after: FlatOutline) -> Pairs:
    """Match the topics of the old map to those of the new one."""
    pairs = Pairs(before, after)
    pairs.add(MAP, MAP)
    told = _Ids(before, after)
    for old, new in told.same():
        pairs.add(old, new)
    kinds = _kinds(before, after)
    _in_place(pairs, kinds)
    _anywhere(pairs, kinds)
    _by_unique_text(pairs)
    _in_place(pairs, kinds)
    _by_what_is_below(pairs, told)
    _in_place(pairs, kinds)
    _reworded(pairs, told, kinds)
    return pairs


class _Ids:
    """Matches topics by their ids."""

    def __init__(self, before: FlatOutline, after: FlatOutline) -> None:
        self._before, self._after = before, after
        old, new = _by_id(before), _by_id(after)
        common = old.keys() & new.keys()
        equal = sum(before.texts[old[one]] == after.texts[new[one]] for one in common)
        counted = sum(_NUMBERED.fullmatch(one) is not None for one in common)
        # Sequential ids are trusted only if most of them have the same text in both maps.
        self._trusted = 2 * equal >= len(common) or 2 * counted < len(common)
        fewest = min(len(before.topics), len(after.topics))
        self._kept = self._trusted and _KEPT * len(common) >= fewest
        self._same = [(old[one], new[one]) for one in old if one in common]

    def same(self) -> Iterable[tuple[int, int]]:
        """Return the topics with the same id."""
        return self._same if self._trusted else ()

    def deny(self, old: int, new: int) -> bool:
        """Return whether differing ids prove that two topics with differing texts are distinct."""
        ids = self._before.topics[old].id, self._after.topics[new].id
        return self._kept and all(ids) and not any(map(_MADE.fullmatch, ids))


def _by_id(rows: FlatOutline) -> dict[str, int]:
    """Return the rows of all ids that occur only once."""
    counts = Counter(topic.id for topic in rows.topics)
    return {
        topic.id: row for row, topic in enumerate(rows.topics) if topic.id and counts[topic.id] == 1
    }


class _Kinds:
    """Numbers that identify branches by content: equal if and only if the branches are equal.

    Attributes:
        before: number of the branch at each row of the old map.
        after: number of the branch at each row of the new map.
    """

    def __init__(self, before: list[int], after: list[int]) -> None:
        self.before = before
        self.after = after


def _kinds(before: FlatOutline, after: FlatOutline) -> _Kinds:
    known: dict[tuple[object, ...], int] = {}

    def numbers(rows: FlatOutline) -> list[int]:
        found = [0] * len(rows.topics)
        for row in range(len(rows.topics) - 1, MAP, -1):
            key = (rows.texts[row], *(found[child] for child in rows.children[row]))
            found[row] = known.setdefault(key, len(known) + 1)
        return found

    return _Kinds(numbers(before), numbers(after))


def _in_place(pairs: Pairs, kinds: _Kinds) -> None:
    """Pair the children of paired topics: equal branches, then equal texts, in order."""
    before, after = pairs.before, pairs.after
    for old, new in pairs.fresh():
        left, right = pairs.free_children(old, new)
        if not (left and right):
            continue
        for first, second in _alike(left, right, kinds.before, kinds.after):
            pairs.add(first, second)
        left, right = pairs.free_children(old, new)
        for first, second in _alike(left, right, before.texts, after.texts):
            if before.texts[first]:
                pairs.add(first, second)


def _alike(
    left: Sequence[int],
    right: Sequence[int],
    of_left: Sequence[object],
    of_right: Sequence[object],
) -> Iterable[tuple[int, int]]:
    """Pair rows with the same value in order: first with first, second with second, and so on."""
    waiting: dict[object, deque[int]] = defaultdict(deque)
    for row in left:
        waiting[of_left[row]].append(row)
    return [(waiting[value].popleft(), row) for row in right if waiting.get(value := of_right[row])]


def _anywhere(pairs: Pairs, kinds: _Kinds) -> None:
    """Pair equal branches that are in different places, the largest first.

    A leaf topic such as "Notes" is paired only if its text is unique.
    """
    before, after = pairs.before, pairs.after
    left, right = pairs.free()
    left = [row for row in left if before.sizes[row] > 1]
    right = [row for row in right if after.sizes[row] > 1]
    left.sort(key=before.sizes.__getitem__, reverse=True)
    right.sort(key=after.sizes.__getitem__, reverse=True)
    for old, new in _alike(left, right, kinds.before, kinds.after):
        # It may have been paired already as part of a larger branch.
        if pairs.are_free(old, new):
            for inner, other in zip(before.branch(old), after.branch(new), strict=True):
                if pairs.are_free(inner, other):
                    pairs.add(inner, other)


def _by_unique_text(pairs: Pairs) -> None:
    before, after = pairs.before, pairs.after
    once = {text for text, count in Counter(before.texts).items() if count == 1 and text}
    once &= {text for text, count in Counter(after.texts).items() if count == 1}
    left, right = pairs.free()
    left = [row for row in left if before.texts[row] in once]
    right = [row for row in right if after.texts[row] in once]
    for old, new in _alike(left, right, before.texts, after.texts):
        pairs.add(old, new)


def _by_what_is_below(pairs: Pairs, told: _Ids) -> None:
    """Pair topics that share at least half of their subtopics, from the leaves up."""
    before, after = pairs.before, pairs.after
    for old in range(len(before.topics) - 1, MAP, -1):
        if pairs.forward[old] != NONE or not before.children[old]:
            continue
        found = (pairs.forward[child] for child in before.children[old])
        votes = Counter(after.parents[child] for child in found if child != NONE)
        if not votes:
            continue
        new, count = votes.most_common(1)[0]
        most = max(len(before.children[old]), len(after.children[new]))
        if 2 * count >= most and pairs.are_free(old, new) and not told.deny(old, new):
            pairs.add(old, new)


def _reworded(pairs: Pairs, told: _Ids, kinds: _Kinds) -> None:
    """Pair siblings with similar texts, starting with those between the same neighbours."""
    before, after = pairs.before, pairs.after
    if pairs.are_free(*(first := _centres(before, after))) and not told.deny(*first):
        pairs.add(*first)
        _in_place(pairs, kinds)
    for new in range(len(after.topics)):  # new pairs are below, so visited later
        old = pairs.back[new]
        if old == NONE:
            continue
        for left, right in _gaps(pairs, old, new):
            _pair_most_alike(pairs, told, left, right)
        _pair_most_alike(pairs, told, *pairs.free_children(old, new))  # their neighbours have moved
        _in_place(pairs, kinds)


def _centres(before: FlatOutline, after: FlatOutline) -> tuple[int, int]:
    """Return the central topics of the first sheet of each map."""
    return before.children[MAP][0], after.children[MAP][0]


def _gaps(pairs: Pairs, old: int, new: int) -> Iterable[tuple[list[int], list[int]]]:
    """Yield the unpaired topics below a pair, grouped by their preceding sibling."""
    left: dict[int, list[int]] = defaultdict(list)
    last = NONE
    for child in pairs.before.children[old]:
        if pairs.forward[child] == NONE:
            left[last].append(child)
        elif pairs.after.parents[pairs.forward[child]] == new:
            last = pairs.forward[child]
    if not left:
        return
    right: dict[int, list[int]] = defaultdict(list)
    last = NONE
    for child in pairs.after.children[new]:
        if pairs.back[child] == NONE:
            right[last].append(child)
        elif pairs.before.parents[pairs.back[child]] == old:
            last = child
    for place, rows in left.items():
        if place in right:
            yield rows, right[place]


def _pair_most_alike(pairs: Pairs, told: _Ids, left: Sequence[int], right: Sequence[int]) -> None:
    found = _most_alike(pairs.before, pairs.after, left, right) if left and right else ()
    for one, other in found:
        if pairs.are_free(one, other) and not told.deny(one, other):
            pairs.add(one, other)


def _most_alike(
    before: FlatOutline, after: FlatOutline, left: Sequence[int], right: Sequence[int]
) -> Iterable[tuple[int, int]]:
    """Return pairs of siblings with similar texts, most similar first."""
    of_left = [_letters(before.texts[row]) for row in left]
    of_right = [_letters(after.texts[row]) for row in right]
    each: Iterable[tuple[int, int]] = product(range(len(left)), range(len(right)))
    if len(left) * len(right) > _MOST_PAIRS:
        each = zip(range(len(left)), range(len(right)), strict=False)
    shares = ((_share(of_left[one], of_right[other]), one, other) for one, other in each)
    alike = sorted((-share, one, other) for share, one, other in shares if share >= _ALIKE)
    return [(left[one], right[other]) for _, one, other in alike]


def _letters(text: str) -> frozenset[str]:
    """Return the pairs of adjacent letters in a text."""
    text = f" {text[:_COMPARED].casefold()} "
    return frozenset(map("".join, pairwise(text)))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the similarity of two texts, from 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other))
