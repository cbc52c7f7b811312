"""The counts of all workers add up, also after workers end."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mapshelf.api.request_handler import count
from mapshelf.metrics.count_files import (
    CountFile,
    clear_counts,
    count_refused_connections,
    read_counts,
)
from mapshelf.metrics.counts import BOUNDS, Numbers, OperationCounts, add_numbers
from mapshelf.metrics.counts import numbers_of_operations as numbers_of


def some(count: float) -> Numbers:
    return {"errors": {"Fault": [count]}}


def test_counts_of_workers_add_up_and_stay_when_one_ends(tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    first, second = CountFile(folder), CountFile(folder)
    first.write(some(1), {"queues": {"pages": [2.0, 1.0]}})
    second.write({**some(20), "tasks": {"pages": [1.0]}}, {"queues": {"pages": [3.0, 0.0]}})
    counts = read_counts(folder)
    assert counts.total("errors", "Fault") == [21]
    assert counts.total("tasks", "pages") == [1]
    assert counts.gauges["queues"]["pages"] == [5, 1]
    assert counts.workers == 2

    first.close()
    counts = read_counts(folder)
    assert counts.total("errors", "Fault") == [21]
    assert counts.gauges["queues"]["pages"] == [3, 0]
    assert counts.workers == 1

    third = CountFile(folder)
    third.write(some(300), {})
    assert read_counts(folder).total("errors", "Fault") == [321]
    assert len(list(folder.iterdir())) == 2
    second.close()
    third.close()
    clear_counts(folder)
    assert read_counts(folder).workers == 0


def test_refused_connections_are_counted_beside_the_workers(tmp_path: Path) -> None:
    worker = CountFile(tmp_path)
    worker.write(some(1), {})
    for refused in (3, 4):
        count_refused_connections(tmp_path, refused)
    counts = read_counts(tmp_path)
    worker.close()
    assert counts.total("connections", "refused") == [7]
    assert counts.workers == 1


def test_a_damaged_file_and_a_shorter_one_after_a_longer_do_no_harm(tmp_path: Path) -> None:
    first = CountFile(tmp_path)
    first.write(some(123456), {})
    first.write(some(1), {})
    assert read_counts(tmp_path).total("errors", "Fault") == [1]
    first.close()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b"Fault", b"Fuult"))
    assert read_counts(tmp_path).totals == {}
    second = CountFile(tmp_path)
    second.write(some(7), {})
    assert read_counts(tmp_path).total("errors", "Fault") == [7]
    second.close()


def test_an_unwritable_folder_loses_only_the_counts(tmp_path: Path) -> None:
    (tmp_path / "counts").write_text("a file")
    counting = CountFile(tmp_path / "counts")
    counting.write(some(1), {})
    counting.close()
    assert read_counts(tmp_path / "counts").workers == 0


@given(st.lists(st.lists(st.floats(0, 60), max_size=20), max_size=4))
def test_a_histogram_of_several_workers_is_that_of_all_their_durations(
    workers: list[list[float]],
) -> None:
    counted = []
    for durations in workers:
        counts = OperationCounts("GET /maps")
        for seconds in durations:
            count(counts, 200, seconds)
        counted.append(numbers_of([counts]))
    added = add_numbers(counted)
    together = [seconds for durations in workers for seconds in durations]
    if not together:
        assert not added.get("durations")
        return
    *buckets, total = added["durations"]["GET /maps"]
    assert added["requests"]["GET /maps\t200"] == [len(together)]
    for place, bound in enumerate(BOUNDS):
        assert sum(buckets[: place + 1]) == sum(seconds <= bound for seconds in together)
    assert sum(buckets) == len(together)
    assert abs(total - sum(together)) < 1e-6
