"""Owners of waiting work take turns, whatever others do, and the one with the most makes room."""

from collections.abc import Sequence
from itertools import count, islice
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.api.turns import FORGOTTEN_AFTER, SHORT, Turns

OWNERS: Final = "abcdef"

Step = tuple[str, str, int]
"""What happens: a kind, an owner, and a number that selects the work."""

STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from(("new", "new", "join", "leave", "take", "take", "displace")),
        st.sampled_from(OWNERS),
        st.integers(0, 20),
    ),
    max_size=80,
)


class Oracle:
    """The same in other words: who has had no turn for longest is next.

    Attributes:
        since: for each waiting owner, when it began to wait or its last turn was over.
        owners: for each waiting work, from the oldest on, its owners.
        asked: when each owner asked for each work.
    """

    def __init__(self) -> None:
        self.since: dict[str, int] = {}
        self.owners: dict[int, set[str]] = {}
        self.asked: dict[tuple[str, int], int] = {}
        self._now = count()
        self._last = ""

    def of(self, owner: str) -> list[int]:
        mine = [work for work, owners in self.owners.items() if owner in owners]
        return sorted(mine, key=lambda work: self.asked[owner, work])

    def add(self, owner: str, work: int) -> None:
        now = next(self._now)
        self.asked[owner, work] = now
        self.owners.setdefault(work, set()).add(owner)
        self.since.setdefault(owner, now)

    def remove(self, owner: str, work: int) -> None:
        self.owners[work].remove(owner)
        if not self.owners[work]:
            del self.owners[work]
        self._forget_idle()

    def take(self, busy: str = "") -> int | None:
        if self._last in self.since:
            self.since[self._last] = next(self._now)
        free = [one for one in self.since if one != busy]
        if not free:
            return None
        owner = min(free, key=lambda one: self.since[one])
        work = self.of(owner)[0]
        del self.owners[work]
        self._last = owner
        self._forget_idle()
        return work

    def displaced_by(self, owner: str) -> int | None:
        least = {
            work: min(len(self.of(one)) for one in owners) for work, owners in self.owners.items()
        }
        most = max(least.values(), default=0)
        if most <= len(self.of(owner)) + 1:
            return None
        return [work for work, number in least.items() if number == most][-1]

    def _forget_idle(self) -> None:
        for owner in [one for one in self.since if not self.of(one)]:
            del self.since[owner]


@given(STEPS)
def test_turns_are_given_to_whoever_has_had_none_for_longest(steps: Sequence[Step]) -> None:
    turns: Turns[int] = Turns()
    oracle, works = Oracle(), count()
    for kind, owner, number in steps:
        waiting, mine = list(oracle.owners), oracle.of(owner)
        if kind == "new" or (kind == "join" and waiting):
            work = next(works) if kind == "new" else waiting[number % len(waiting)]
            if work not in mine:
                turns.add(owner, work)
                oracle.add(owner, work)
        elif kind == "leave" and mine:
            work = mine[number % len(mine)]
            turns.remove(owner, work)
            oracle.remove(owner, work)
        elif kind == "take":
            busy = owner if number % 2 else ""
            assert turns.take({busy}) == oracle.take(busy)
        elif kind == "displace":
            assert turns.displaced_by(owner) == oracle.displaced_by(owner)
        assert len(turns) == len(oracle.owners)
    left = [turns.take() for _ in range(len(turns))]
    assert left == [oracle.take() for _ in range(len(left))]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.lists(st.integers(0, 4)))
def test_nobody_waits_for_more_turns_than_there_are_owners_in_front(
    waiting: Sequence[int], newcomers: Sequence[int]
) -> None:
    """However many newcomers arrive meanwhile."""
    turns: Turns[tuple[int, int]] = Turns()
    left = dict(enumerate(waiting))
    for owner, number in left.items():
        for work in range(number):
            turns.add(owner, (owner, work))
    last, new, arrivals = len(waiting) - 1, count(len(waiting)), iter(newcomers)
    for work in range(waiting[last]):
        in_front = sum(1 for owner, number in left.items() if number and owner != last)
        for turn in count():
            for owner in islice(new, next(arrivals, 1)):
                turns.add(owner, (owner, 0))
                left[owner] = 1
            if work and not turn:  # those who came during the last turn are in front, too
                in_front = sum(1 for owner, number in left.items() if number and owner != last)
            assert turn <= in_front
            taken = turns.take()
            assert taken
            left[taken[0]] -= 1
            if taken == (last, work):
                break


def test_a_stream_of_newcomers_leaves_turns_for_those_who_had_one() -> None:
    turns: Turns[str] = Turns()
    for work in ("a1", "a2", "a3"):
        turns.add("a", work)
    taken = []
    for number in range(8):
        turns.add(f"newcomer {number}", f"n{number}")
        taken.append(turns.take())
    assert taken == ["a1", "n0", "n1", "a2", "n2", "n3", "n4", "a3"]


def test_work_of_several_owners_is_done_once_and_costs_only_one_of_them_a_turn() -> None:
    turns: Turns[str] = Turns()
    for owner, work in (("a", "a1"), ("a", "shared"), ("b", "shared"), ("b", "b1"), ("c", "c1")):
        turns.add(owner, work)
    assert [turns.take() for _ in range(len(turns))] == ["a1", "shared", "c1", "b1"]


def test_only_who_has_more_makes_room() -> None:
    turns: Turns[str] = Turns()
    for owner, work in (("a", "a1"), ("a", "a2"), ("b", "b1"), ("a", "a3"), ("c", "a3")):
        turns.add(owner, work)
    assert turns.displaced_by("d") == "a2", "c, which has less, waits for a3"
    assert turns.displaced_by("b") == "a2"
    assert turns.displaced_by("a") is None
    turns.remove("a", "a2")
    turns.remove("a", "a3")
    assert turns.displaced_by("d") is None, "all have one"


def test_who_had_a_long_turn_misses_some_while_others_wait() -> None:
    turns: Turns[str] = Turns()
    for owner, works in (("a", 4), ("b", 6), ("c", 1)):
        for number in range(works):
            turns.add(owner, f"{owner}{number}")
    assert turns.take() == "a0"
    turns.note_length("a", 3.5 * SHORT)
    taken = [turns.take() for _ in range(6)]
    assert taken == ["b0", "c0", "b1", "b2", "b3", "a1"]
    turns.note_length("a", 60)
    turns.note_length("b", SHORT / 2)
    assert [turns.take() for _ in range(4)] == ["b4", "b5", "a2", "a3"], "a waits for nobody"


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_owners_get_equal_shares_of_the_time(lengths: Sequence[float]) -> None:
    turns: Turns[tuple[int, int]] = Turns()
    spent = [0.0] * len(lengths)
    for owner in range(len(lengths)):
        turns.add(owner, (owner, 0))
    for number in range(1, 500):
        taken = turns.take()
        assert taken
        owner, _ = taken
        spent[owner] += max(SHORT, lengths[owner])
        turns.add(owner, (owner, number))
        turns.note_length(owner, lengths[owner])
        # A turn costs up to one more than its length.
        assert max(spent) / 2 <= min(spent) + max(lengths) + SHORT


def test_long_turns_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: Turns[str] = Turns()
    now = 100.0
    monkeypatch.setattr("mapshelf.api.turns.monotonic", lambda: now)
    turns.note_length("a", 1)
    now += FORGOTTEN_AFTER
    for work in ("a1", "a2", "b1", "c1"):
        turns.add(work[0], work)
    assert [turns.take() for _ in range(4)] == ["a1", "b1", "c1", "a2"]
