"""Tests of ``contract.VisitCounts``."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.formats.ndjson_records import format_record, parse_record
from mapshelf.model import (
    DAY,
    HOUR,
    LARGEST_COUNT,
    MapDraft,
    Visit,
    VisitKind,
)
from mapshelf.store import Store
from tests.examples import examples
from tests.store.contract.suite import (
    ALL,
    CHANGED,
    INHERITED,
    LATER,
    NOON,
    UNCHANGED,
    Open,
    Suite,
    counts,
    put,
    title,
    verdicts,
    visit,
)
from tests.store.drafts import complete


class VisitCountsContract(Suite):
    """Which visits count, and when maps show them."""

    def test_a_visit_counts_once_from_any_worker(self, store: Store, reopen: Open) -> None:
        a, b = put(store, title("a", views=7)), put(store, title("b"))
        visits = [visit(a), visit(a, "other"), visit(a), visit(b, "b")]
        assert store.count_visits(visits, NOON, ALL) == 0
        assert reopen().count_visits(visits, NOON + 5, ALL) == 0
        assert store.count_visits([visit(a, "third")], NOON + 9, ALL) == 0
        assert counts(store) == {"a": (10, 0), "b": (1, 0)}

    def test_views_and_downloads_are_counted_apart(self, store: Store) -> None:
        a = put(store, title("a", downloads=3))
        store.count_visits([visit(a), visit(a, "d", kind=VisitKind.DOWNLOAD)], NOON, ALL)
        assert counts(store) == {"a": (1, 4)}

    def test_only_applying_counts_changes_maps(self, store: Store) -> None:
        a, b, c = (put(store, title(name)) for name in "abc")
        revision = store.revision()
        store.count_visits([visit(a, "1"), visit(b, "2"), visit(a, "3")], NOON, ALL)
        assert store.revision() == revision
        assert store.maps(0, ALL) == [a, b, c]
        assert store.apply_visit_counts(NOON) == 0  # no visit is that old
        assert store.apply_visit_counts(NOON + 1) == 2
        changes = store.changes(revision, ALL)
        assert [(c.map.id, c.map.views) for c in changes if c.map] == [(a.id, 2), (b.id, 1)]
        assert [replace(c.map, views=0) for c in changes if c.map] == [a, b]
        assert store.revision() == revision + 2
        assert store.apply_visit_counts(LATER) == 0
        assert store.revision() == revision + 2

    def test_a_due_visit_is_applied_with_later_ones(self, store: Store) -> None:
        a, b = put(store, title("a")), put(store, title("b"))
        store.count_visits([visit(a, "1")], NOON, ALL)
        store.count_visits([visit(a, "2"), visit(b, "3")], NOON + 50, ALL)
        assert store.apply_visit_counts(NOON + 1) == 2
        assert counts(store) == {"a": (2, 0), "b": (1, 0)}

    def test_applying_counts_to_many_maps(self, store: Store) -> None:
        found = store.put_maps([title(f"m{n}") for n in range(1203)])
        assert len(found) == 1203
        visits = [visit(one, one.id) for one in store.maps(0, ALL)]
        store.count_visits(visits, NOON, ALL)
        assert store.apply_visit_counts(LATER) == 1203
        assert {one.views for one in store.maps(0, ALL)} == {1}
        assert store.check() == []

    def test_the_same_visit_in_another_hour_counts_again(self, store: Store) -> None:
        a = put(store, title("a"))
        hour = NOON // HOUR
        store.count_visits([visit(a)], NOON, ALL)
        store.count_visits([visit(a, hour=hour + 1), visit(a)], NOON + HOUR, ALL)
        assert counts(store) == {"a": (2, 0)}

    def test_visits_an_hour_late_count_and_later_ones_do_not(self, store: Store) -> None:
        a = put(store, title("a"))
        hour = NOON // HOUR
        late = [visit(a, str(n), hour=hour - n) for n in range(4)]
        assert store.count_visits(late, NOON, ALL) == 0
        assert counts(store) == {"a": (2, 0)}

    def test_visits_are_forgotten_after_the_next_hour(self, store: Store) -> None:
        a = put(store, title("a"))
        store.count_visits([visit(a)], NOON, ALL)
        store.count_visits([], NOON + 2 * HOUR, ALL)
        # If the visit were still known, it would not count: that is the only way to tell.
        store.count_visits([visit(a)], NOON, ALL)
        assert counts(store) == {"a": (2, 0)}

    def test_visits_beyond_the_limit_do_not_count(self, store: Store) -> None:
        a = put(store, title("a"))
        assert store.count_visits([visit(a, str(n)) for n in range(5)], NOON, 3) == 2
        assert store.count_visits([visit(a, "6")], NOON, 3) == 1
        assert counts(store) == {"a": (3, 0)}
        # There is room again in later hours.
        later = visit(a, "7", hour=NOON // HOUR + 2)
        assert store.count_visits([later], NOON + 2 * HOUR, 3) == 0
        assert counts(store) == {"a": (4, 0)}

    def test_visits_of_unknown_maps_do_not_count(self, store: Store) -> None:
        a, b = put(store, title("a")), put(store, title("b"))
        store.delete_maps([b.id])
        store.count_visits([visit(b, "1"), visit(a, "2")], NOON, ALL)
        store.count_visits([visit(a, "3")], NOON, ALL)
        store.delete_maps([a.id])
        revision = store.revision()
        store.apply_visit_counts(LATER)
        assert store.maps(0, ALL) == []
        assert store.revision() == revision
        assert store.check() == []

    def test_a_counter_that_is_full_stays_full(self, store: Store) -> None:
        put(store, title("a", views=LARGEST_COUNT - 1, downloads=LARGEST_COUNT))
        (a,) = store.maps(0, ALL)
        visits = [visit(a, str(n)) for n in range(3)]
        store.count_visits([*visits, visit(a, "d", kind=VisitKind.DOWNLOAD)], NOON, ALL)
        assert counts(store) == {"a": (LARGEST_COUNT, LARGEST_COUNT)}

    def test_an_import_does_not_reset_counted_visits(self, store: Store) -> None:
        a = put(store, complete(views=5, downloads=2))
        (line,) = (format_record(found) for found in store.maps(0, ALL))
        store.count_visits([visit(a, "1"), visit(a, "2", kind=VisitKind.DOWNLOAD)], NOON, ALL)
        assert counts(store) == {"A title": (6, 3)}
        (outcome,) = store.put_maps([parse_record(line)[0]])
        assert outcome.verdict is UNCHANGED
        assert verdicts(store.put_maps([MapDraft(id=a.id, title="new")])) == [CHANGED]
        assert counts(store) == {"new": (6, 3)}
        store.put_maps([MapDraft(id=a.id, views=100)])
        assert counts(store) == {"new": (100, 3)}

    def test_all_stores_share_a_salt_for_a_day(self, store: Store, reopen: Open) -> None:
        day = NOON // DAY
        salt, following = store.visitor_salt(day), reopen().visitor_salt(day + 1)
        assert len(salt) == len(following) == 32
        assert salt != following
        assert (reopen().visitor_salt(day), store.visitor_salt(day + 1)) == (salt, following)
        store.count_visits([], NOON, ALL)
        assert store.visitor_salt(day) == salt
        store.count_visits([], (day + 1) * DAY, ALL)
        assert store.visitor_salt(day + 1) == following
        assert store.visitor_salt(day) != salt

    def test_simultaneous_requests_for_a_salt_get_the_same(self, reopen: Open) -> None:
        stores = [reopen() for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            salts = [job.result() for job in [pool.submit(s.visitor_salt, 9) for s in stores]]
        assert len(set(salts)) == 1

    def test_several_counters_run_while_maps_are_written(self, reopen: Open) -> None:
        """Each counter hands over the same visits in its own order, and blocks no other."""
        first = reopen()
        first.put_maps([title(f"m{n}", id=f"m{n}") for n in range(20)])
        visits = [visit(one, f"{one.id} {n}") for one in first.maps(0, ALL) for n in range(9)]

        def count(seed: int) -> None:
            store, mine = reopen(), list(visits)
            random.Random(seed).shuffle(mine)
            for start in range(0, len(mine), 30):
                store.count_visits(mine[start : start + 30], NOON, ALL)
                store.apply_visit_counts(LATER)

        def write(seed: int) -> None:
            store = reopen()
            for n in range(10):
                store.put_maps([title(f"t{seed}", id=f"m{i}") for i in range(n, n + 9)])
                store.delete_maps([f"x{seed}"])

        with ThreadPoolExecutor(4) as pool:
            jobs = [pool.submit(count, 1), pool.submit(count, 2)]
            jobs += [pool.submit(write, 3), pool.submit(write, 4)]
            for job in jobs:
                job.result()
        first.apply_visit_counts(LATER)
        assert {found.views for found in first.maps(0, ALL)} == {9}
        assert first.check() == []

    @settings(max_examples=examples(30), suppress_health_check=INHERITED)
    @given(
        steps=st.lists(
            st.one_of(
                st.integers(1, 3 * HOUR // 2),
                st.lists(
                    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(VisitKind)),
                    max_size=8,
                ),
                st.none(),
            ),
            max_size=12,
        )
    )
    def test_random_visits_count_like_a_set(
        self, empty: Callable[[], Store], steps: list[Any]
    ) -> None:
        """Time passes, visits are handed over (this hour's once more), and counts are applied."""
        store = empty()
        try:
            store.put_maps([title(str(n)) for n in range(3)])
            maps, now = store.maps(0, ALL), NOON
            model: set[Visit] = set()
            for step in steps:
                if isinstance(step, int):
                    now += step
                elif step is None:
                    store.apply_visit_counts(now + 1)
                else:
                    hour = now // HOUR
                    model.update(
                        visit(maps[n], f"{who} {n} {kind} {hour}", hour=hour, kind=kind)
                        for who, n, kind in step
                    )
                    known = [one for one in model if one.hour >= hour - 1]
                    assert store.count_visits(known, now, ALL) == 0
            want = {found.title: [0, 0] for found in maps}
            for one in model:
                want[maps[one.file_id - 1].title][one.kind is VisitKind.DOWNLOAD] += 1
            assert counts(store) == {name: (a, b) for name, (a, b) in want.items()}
        finally:
            store.close()
