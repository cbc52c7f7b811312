"""Fixtures and helpers of the contract suite."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck

from mapshelf.model import (
    HOUR,
    Map,
    MapDraft,
    Outcome,
    Verdict,
    Visit,
    VisitKind,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.drafts import outline

ALL = 1_000_000
NOON = 400_000 * HOUR
"""Some time of day at which an hour begins."""

LATER = 2**60
"""A time after all others."""

ADDED, CHANGED, UNCHANGED, REFUSED = Verdict

Open = Callable[[], Store]

INHERITED = (
    HealthCheck.function_scoped_fixture,
    HealthCheck.differing_executors,
    HealthCheck.too_slow,
)
"""Hypothesis warns of a test that several classes run, since what failed in one is replayed in the
other; here examples are the same every time, and none are kept. A busy machine is slow."""


def title(text: str, **fields: Any) -> MapDraft:
    return MapDraft(title=text, **fields)


def put(store: Store, draft: MapDraft) -> Map:
    """Put one map that must be accepted; return its state."""
    (outcome,) = store.put_maps([draft])
    assert outcome.verdict is not REFUSED, outcome.reason
    return present(store)[outcome.id]


def present(store: Store) -> dict[str, Map]:
    return {found.id: found for found in store.maps(0, ALL)}


def name_of(store: Store, found: Map) -> str:
    content = store.content(found.file_id)
    assert content is not None
    return content.name


def visit(
    found: Map, key: str = "k", *, hour: int = NOON // HOUR, kind: VisitKind = VisitKind.VIEW
) -> Visit:
    return Visit(key.encode(), found.file_id, kind, hour)


def counts(store: Store) -> dict[str, tuple[int, int]]:
    """Apply visit counts to maps; return views and downloads by title."""
    store.apply_visit_counts(LATER)
    return {found.title: (found.views, found.downloads) for found in store.maps(0, ALL)}


def verdicts(outcomes: list[Outcome]) -> list[Verdict]:
    return [outcome.verdict for outcome in outcomes]


class Suite:
    """Base of every part of the suite: an empty database at ``url``, and how to open it."""

    def connect(self, url: str, clock: Clock) -> Store:
        """Open the database at ``url`` with this clock."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def reopen(self, url: str, clock: Clock) -> Iterator[Open]:
        """Open the same database again, as another process would; close all stores at the end."""
        opened: list[Store] = []

        def reopen() -> Store:
            opened.append(self.connect(url, clock))
            return opened[-1]

        yield reopen
        for store in opened:
            store.close()

    @pytest.fixture
    def store(self, reopen: Open) -> Store:
        return reopen()


def until_quiet(store: Store, revision: int) -> None:
    """Wait until the store says that there is nothing above a revision."""
    deadline = time.monotonic() + 10
    while store.wait(revision, 0.01):
        assert time.monotonic() < deadline, "the store keeps reporting changes"


def chooser(words: Iterator[str]) -> Callable[[str], str]:
    """Return a stand-in for ``secrets.choice`` that spells ``words`` one after the other."""
    letters = (letter for word in words for letter in word)
    return lambda alphabet: next(letters)


def random_writes(store: Store, dice: random.Random) -> Iterator[None]:
    """Write at random, pausing after each write."""
    for step in range(30):
        ids = [f"r{dice.randrange(12)}" for _ in range(dice.randint(1, 3))]
        if dice.random() < 0.3:
            store.delete_maps(ids)
        else:
            store.put_maps(
                [
                    MapDraft(
                        id=public_id,
                        title=f"t{step}",
                        owner=f"o{dice.randrange(3)}",
                        views=dice.randrange(4),
                        outline=outline(public_id, str(step)) if dice.random() < 0.5 else None,
                    )
                    for public_id in ids
                ]
            )
        yield
