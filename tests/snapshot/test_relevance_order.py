"""Relevance gives the same order on all pages and nodes, however many maps tie."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mapshelf.model import MapDraft
from mapshelf.snapshot.read import Snapshot
from mapshelf.snapshot.read.relevance_order import BLOCK, NEAR, RankedWindow, window_around
from tests.examples import examples
from tests.harness import outline_of
from tests.snapshot.test_segments import segments, write_segments_of
from tests.snapshot.world import World, page, world_in

MANY = 5 * BLOCK + 7


def walked(snapshot: Snapshot, limit: int, text: str) -> list[str]:
    """Return the IDs of all results, page by page."""
    found: list[str] = []
    while True:
        body = page(snapshot, order=None, text=text, offset=len(found), limit=limit).body
        ids = [one["ID"] for one in orjson.loads(body)]
        if not ids:
            return found
        found += ids


def numbered(numbers: range) -> list[MapDraft]:
    return [MapDraft(id=f"m{n}", title="green tea", description="a tea") for n in numbers]


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A shared catalogue whose index is written at once: do not change it."""
    with world_in(tmp_path_factory.mktemp("once")) as world:
        world.put(*numbered(range(MANY)))
        world.published()
        yield world


SEARCHES = ["tea", '"tea"', "green tea", "-coffee"]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10, 20, 50])
@pytest.mark.parametrize("text", SEARCHES)
def test_ties_are_newest_first_to_the_last_page(at_once: World, limit: int, text: str) -> None:
    newest_first = [f"m{n}" for n in reversed(range(MANY))]
    assert walked(at_once.snapshot(), limit, text) == newest_first


@pytest.mark.slow
def test_the_index_has_no_influence_on_the_order(
    at_once: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One index is written at once, the other in portions, backwards, with changes and merges."""
    with world_in(tmp_path) as other:
        other.put(*numbered(range(MANY)))
        write_segments_of(monkeypatch, BLOCK)
        other.published()
        for start in range(MANY - 50, -1, -50):
            changed = numbered(range(start, start + 50))
            other.put(*(MapDraft(id=draft.id, title="milk") for draft in changed))
            other.published()
            other.put(*changed)
            other.published()
        assert segments(at_once) != segments(other)
        first = {text: walked(at_once.snapshot(), 20, text) for text in SEARCHES}
        for ids in first.values():
            assert len(set(ids)) == len(ids) == MANY
        assert {text: walked(other.published(), 20, text) for text in SEARCHES} == first
        other.restart()
        assert {text: walked(other.published(), 50, text) for text in SEARCHES} == first


# Three kinds of maps: each has the word where the next kind has it, and in a place with more
# weight. All maps of a kind are equally relevant. As many lack the word, so it stays significant.
SAID = outline_of("all", "tea")
KINDS = (
    MapDraft(title="tea", description="tea", outline=SAID),
    MapDraft(title="other", description="tea", outline=SAID),
    MapDraft(title="other", description="none", outline=SAID),
)
OTHER = MapDraft(title="milk", description="milk", outline=outline_of("all", "milk"))
RUNS = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 90))


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(
    runs=st.lists(RUNS, min_size=1, max_size=6),
    portions=st.integers(1, 3),
    limit=st.sampled_from([10, 20, 50]),
)
@example(runs=[(1, 0, 80), (0, 0, 200), (1, 1, 90), (2, 0, 70)], portions=3, limit=20)
def test_many_ties_are_sorted_as_documented(
    runs: list[tuple[int, int, int]], portions: int, limit: int
) -> None:
    """By relevance, then popularity (here: whether ever opened), then the newer map."""
    rows = [(kind, views) for kind, views, count in runs for _ in range(count)]
    drafts = [
        replace(KINDS[kind], id=f"m{number}", views=views)
        for number, (kind, views) in enumerate(rows)
    ]
    promise = sorted(range(len(rows)), key=lambda n: (rows[n][0], -rows[n][1], -n))
    with TemporaryDirectory() as folder, world_in(Path(folder)) as world:
        world.put(*[OTHER] * (len(rows) + 20))
        for portion in range(portions):
            start, end = (len(drafts) * (portion + one) // portions for one in (0, 1))
            if start < end:
                world.put(*drafts[start:end])
            snapshot = world.published()
        assert walked(snapshot, limit, '"tea"') == [f"m{n}" for n in promise]


# -- positions, with an oracle ---------------------------------------------------------------

# Few different scores, so that many tie; some are near ties, and some differ by rounding only.
SCORES = st.lists(
    st.tuples(st.sampled_from([9.0, 8.9, 8.7, 8.5, 8.3, 4.0, 3.99, 1.0]), st.integers(1, 150)),
    min_size=1,
    max_size=8,
).map(lambda runs: sorted([score for score, count in runs for _ in range(count)], reverse=True))


def promised(scores: list[float]) -> list[int]:
    """Return the number of the near tie of each hit, as defined in ``docs/search.md``."""
    numbers: list[int] = []
    block = best = 0
    for position, score in enumerate(scores):
        new = position == 0 or score != scores[position - 1]
        if new and (position == 0 or position // BLOCK > block or block_due(position, scores)):
            block, best = position // BLOCK, position
        elif new and score < scores[best] * (1 - NEAR):
            best = position
        numbers.append(best)
    return numbers


def block_due(position: int, scores: list[float]) -> bool:
    """Return whether a block ended in or at the run of equal scores before ``position``."""
    run = position - 1
    while run and scores[run - 1] == scores[position - 1]:
        run -= 1
    return position // BLOCK > run // BLOCK


@given(SCORES, st.integers(0, 1200), st.integers(1, 130), st.sampled_from([16, BLOCK, 300, 2000]))
@example([1.0] * 200, 100, 20, BLOCK)
@example([2.0] * 64 + [1.96] * 64, 60, 10, BLOCK)
def test_every_window_gives_the_documented_ties(
    scores: list[float], start: int, limit: int, margin: int
) -> None:
    start %= len(scores)
    noisy = [score * (1 + 1e-7 * (n % 2)) for n, score in enumerate(scores)]
    noisy.sort(reverse=True)
    first, last = window_around(start, start + limit, margin)
    ties = RankedWindow(noisy[first:last], first, len(scores)).near_ties(start, start + limit)
    if margin == 2000:
        assert ties is not None, "a window with all hits must be enough"
    if ties is None:
        return
    end = min(start + limit, len(scores))
    want = promised(scores)
    expected = [(tie, tie + want.count(tie)) for tie in sorted(set(want[start:end]))]
    assert ties == expected
