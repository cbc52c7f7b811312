"""Tests of export and import of a catalogue."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.formats.ndjson_records import format_record, parse_record
from mapshelf.model import (
    MapDraft,
)
from mapshelf.store import Store
from tests.examples import examples
from tests.store.contract.suite import ADDED, ALL, INHERITED, UNCHANGED, Suite
from tests.store.drafts import DRAFTS


class TransferContract(Suite):
    """Export and import into another store. ``tests/store/test_transfer.py`` has more."""

    @settings(max_examples=examples(25), suppress_health_check=INHERITED)
    @given(drafts=st.lists(DRAFTS, max_size=6))
    def test_export_and_import_into_an_empty_catalogue(
        self, store: Store, empty: Callable[[], Store], drafts: list[MapDraft]
    ) -> None:
        store.put_maps(drafts)
        lines = [format_record(found) for found in store.maps(0, ALL)]
        target = empty()
        try:
            parsed = [parse_record(line) for line in lines]
            assert all(unknown == [] for _, unknown in parsed)
            outcomes = target.put_maps([draft for draft, _ in parsed])
            assert {outcome.verdict for outcome in outcomes} <= {ADDED}
            assert [format_record(found) for found in target.maps(0, ALL)] == lines
            again = target.put_maps([parse_record(line)[0] for line in lines])
            assert {outcome.verdict for outcome in again} <= {UNCHANGED}
        finally:
            target.close()
