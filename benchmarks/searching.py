"""Searches in process: rare to very common words, phrases, prefixes, and other scripts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from benchmarks.catalogue import BASE_URL, Catalogue, words_of
from benchmarks.measure import timed
from mapshelf.api.search import suggestions
from mapshelf.query import MapQuery
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.read import Snapshot
from mapshelf.store import open_store

WORDS: Final = 10
"""Different words of each kind."""

ROUNDS: Final = 5

CATEGORY: Final = (("category", 2),)


def measured(catalogue: Catalogue) -> Iterator[tuple[str, Any]]:
    """Yield each kind of search with its times, and the median number of matches."""
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    snapshot = Snapshot(directory.folder(directory.current()))
    words = words_of("Latin", catalogue.seed)
    rare, middling, common = words[20_000 : 20_000 + WORDS], words[300 : 300 + WORDS], words[:WORDS]
    chinese = [word for word in words_of("Chinese", catalogue.seed) if len(word) == 2]
    cases: dict[str, list[MapQuery]] = {
        "rare word": _texts(_quoted(rare)),
        "middling word": _texts(_quoted(middling)),
        "common word": _texts(_quoted(common)),
        "common word, page 100": _texts(_quoted(common), offset=1980),
        "middling word as typed (or its beginning)": _texts(middling),
        "two words": _texts([f"{a} {b}" for a, b in zip(common, _quoted(middling), strict=True)]),
        "phrase": _texts([f'"{a} {b}"' for a, b in zip(common, middling, strict=True)]),
        "beginning, three letters": _texts([word[:3] for word in rare]),
        "beginning, one letter": _texts([word[:1] for word in rare]),
        "Chinese word": _texts(chinese[500 : 500 + WORDS]),
        "Chinese character": _texts([word[:1] for word in chinese[500 : 500 + WORDS]]),
        "common word in a category": _texts(_quoted(common), filters=CATEGORY),
        "middling word without another": _texts(
            [f"{a} -{b}" for a, b in zip(_quoted(middling), common, strict=True)]
        ),
    }
    for name, queries in cases.items():
        yield name, _case(snapshot, queries * ROUNDS)
    for name, chosen in (("middling", middling), ("common", common)):
        queries = _texts(_quoted(chosen), order="views")
        yield f"{name} word by views, first page", _case(snapshot, queries)
        yield f"{name} word by views, next pages", _case(snapshot, queries)
    yield from _completing(catalogue, snapshot, [*common, *middling, *rare])


def _completing(
    catalogue: Catalogue, snapshot: Snapshot, words: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the times of suggestions while a user types these words."""
    store = open_store(catalogue.settings.database)
    for name, length in (("one letter", 1), ("two letters", 2), ("four letters", 4)):
        queries = [MapQuery(word[:length], limit=10) for word in words]
        times = timed(lambda query: suggestions(snapshot, store, query), queries)
        yield f"suggestions for {name}", times.as_json()
    queries = [MapQuery(f"{a} {b[:3]}", limit=10) for a, b in pairwise(words)]
    times = timed(lambda query: suggestions(snapshot, store, query), queries)
    yield "suggestions for a word and three letters", times.as_json()
    store.close()


def _case(snapshot: Snapshot, queries: Sequence[MapQuery]) -> dict[str, Any]:
    base_url = BASE_URL.encode()
    times = timed(lambda query: snapshot.page(query, base_url), queries)
    totals = sorted(snapshot.page(query, base_url).total for query in queries)
    return {**times.as_json(), "maps": totals[len(totals) // 2]}


def _quoted(words: Sequence[str]) -> list[str]:
    """Return each word in quotes, so that it matches whole words only."""
    return [f'"{word}"' for word in words]


def _texts(
    texts: Sequence[str],
    *,
    order: str | None = None,
    offset: int = 0,
    filters: tuple[tuple[str, int], ...] = (),
) -> list[MapQuery]:
    return [MapQuery(text, order=order, offset=offset, filters=filters) for text in texts]
