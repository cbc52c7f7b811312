"""Renders metrics in the Prometheus text format, version 0.0.4.

Names, units and types follow https://prometheus.io/docs/practices/naming/. They are listed in
``docs/operating.md``; a test compares both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from mapshelf.backup_status import BackupStatus
from mapshelf.metrics.counts import BOUNDS, Counts
from mapshelf.metrics.overview import Overview, SnapshotState, StoreState

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Family:
    """A metric, with one sample for each combination of labels.

    Attributes:
        name: its name.
        kind: its type.
        help: its description.
        samples: suffix of the name, labels, and value of each sample.
    """

    name: str
    kind: str
    help: str
    samples: list[tuple[str, Labels, float]] = field(default_factory=list)

    def add(self, value: float, labels: Labels = (), suffix: str = "") -> None:
        """Add a sample."""
        self.samples.append((suffix, labels, value))

    def lines(self) -> Iterator[str]:
        """Yield its lines."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for suffix, labels, value in self.samples:
            pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels)
            yield f"{self.name}{suffix}{'{' + pairs + '}' if pairs else ''} {_number(value)}"


def expose(overview: Overview) -> bytes:
    """Return an overview in the Prometheus text format."""
    lines = [line for family in families(overview) for line in family.lines()]
    return "\n".join([*lines, ""]).encode()


def families(overview: Overview) -> Iterator[Family]:
    """Yield all metrics."""
    yield _one("info", "gauge", "The version of Mapshelf.", 1, (("version", version("mapshelf")),))
    yield from _of_requests(overview.counts)
    yield from _of_queues(overview.counts)
    yield from _of_workers(overview.counts)
    yield from _of_store(overview.store)
    yield from _of_snapshot(overview.snapshot, overview.pending)
    yield from _of_backups(overview.backup)
    yield from _of_node(overview)


def _of_requests(counts: Counts) -> Iterator[Family]:
    requests = _family("requests_total", "counter", "Requests, by operation and status.")
    responses = _family("responses_total", "counter", "Requests, by class of status.")
    classes = {f"{first}xx": 0.0 for first in range(2, 6)}
    for about, (count,) in sorted(counts.totals.get("requests", {}).items()):
        operation, _, status = about.partition("\t")
        requests.add(count, (("operation", operation), ("status", status)))
        classes[f"{status[0]}xx"] = classes.get(f"{status[0]}xx", 0.0) + count
    for name, count in classes.items():
        responses.add(count, (("class", name),))
    durations = _family(
        "request_duration_seconds", "histogram", "Time until the response was ready to be sent."
    )
    for operation, numbers in sorted(counts.totals.get("durations", {}).items()):
        _add_histogram(durations, operation, numbers)
    errors = _family("errors_total", "counter", "Requests that were refused or failed, by error.")
    for name, (count,) in sorted(counts.totals.get("errors", {}).items()):
        errors.add(count, (("error", name),))
    limited = _family("rate_limited_total", "counter", "Requests over a rate limit, by budget.")
    for name, (count,) in sorted(counts.totals.get("limited", {}).items()):
        limited.add(count, (("budget", name),))
    yield from (requests, responses, durations, errors, limited)
    yield _one(
        "refused_connections_total",
        "counter",
        "Connections refused because no worker could accept them.",
        sum(counts.total("connections", "refused")),
    )


def _add_histogram(family: Family, operation: str, numbers: Sequence[float]) -> None:
    *buckets, seconds = numbers
    reached = 0.0
    for bound, count in zip([*map(str, BOUNDS), "+Inf"], buckets, strict=True):
        reached += count
        family.add(reached, (("operation", operation), ("le", bound)), "_bucket")
    family.add(seconds, (("operation", operation),), "_sum")
    family.add(reached, (("operation", operation),), "_count")


def _of_queues(counts: Counts) -> Iterator[Family]:
    tasks = counts.totals.get("tasks", {})
    yield _by_queue(
        "queue_refusals_total",
        "counter",
        "Tasks that were refused because too many waited.",
        {name: numbers[1] for name, numbers in tasks.items()},
    )
    yield _by_queue(
        "queue_late_total",
        "counter",
        "Tasks that were given up because they did not begin in time.",
        {name: numbers[2] for name, numbers in tasks.items()},
    )
    for what, place, text in (
        ("wait", 3, "Time that tasks waited for their turn."),
        ("work", 4, "Time that tasks took."),
    ):
        family = _family(f"queue_{what}_seconds", "summary", text)
        for name, numbers in sorted(tasks.items()):
            family.add(numbers[place], (("queue", name),), "_sum")
            family.add(numbers[0], (("queue", name),), "_count")
        yield family
    lengths = counts.gauges.get("queues", {})
    yield _by_queue(
        "queue_waiting",
        "gauge",
        "Tasks that wait for their turn.",
        {name: numbers[0] for name, numbers in lengths.items()},
    )
    yield _by_queue(
        "queue_running",
        "gauge",
        "Tasks that are being done.",
        {name: numbers[1] for name, numbers in lengths.items()},
    )


def _of_workers(counts: Counts) -> Iterator[Family]:
    yield _one("workers", "gauge", "Workers that live.", counts.workers)
    seconds = sum(counts.total("process"))
    yield _one("workers_cpu_seconds_total", "counter", "Processor time of workers.", seconds)
    memory = sum(counts.gauges.get("memory", {}).get("", []))
    yield _one("workers_memory_bytes", "gauge", "Memory of workers, shared memory in each.", memory)
    done, *_, worked = counts.total("lookups") or (0.0, 0.0)
    lookups = _family(
        "token_lookup_seconds", "summary", "Time that the store took to look up tokens."
    )
    lookups.add(worked, (), "_sum")
    lookups.add(done, (), "_count")
    yield lookups


def _of_store(store: StoreState | None) -> Iterator[Family]:
    yield _one("store_up", "gauge", "Whether the store answers.", store is not None)
    if store is None:
        return
    yield _one("store_seconds", "gauge", "Time that the store took to answer.", store.seconds)
    ahead = "Time by which the clock of this node is ahead of the store's."
    yield _one("clock_ahead_seconds", "gauge", ahead, store.clock_difference)
    yield _one("store_revision", "gauge", "The revision of the store.", store.revision)
    yield _one("sessions", "gauge", "Sessions that have not ended.", store.figures.sessions)
    yield _one("outdated_maps", "gauge", "Maps that will be read again.", store.figures.outdated)
    refused = _family(
        "import_refusals", "gauge", "Files that imports did not take, dismissed ones left out."
    )
    for kind, count in store.refusals.items():
        refused.add(count, (("kind", kind.value),))
    yield refused


def _of_snapshot(snapshot: SnapshotState | None, pending: int | None) -> Iterator[Family]:
    yield _one("snapshot_up", "gauge", "Whether there is a snapshot.", snapshot is not None)
    if pending is not None:
        yield _one("snapshot_pending_changes", "gauge", "Changes not in the snapshot yet.", pending)
    if snapshot is None:
        return
    yield _one("snapshot_revision", "gauge", "The revision of the snapshot.", snapshot.revision)
    yield _one("snapshot_maps", "gauge", "Maps in the snapshot.", snapshot.maps)
    yield _one("snapshot_bytes", "gauge", "Size of the snapshot.", snapshot.size)
    yield _one(
        "snapshot_published_timestamp_seconds",
        "gauge",
        "When the snapshot was published.",
        snapshot.published,
    )


def _of_backups(backup: BackupStatus) -> Iterator[Family]:
    failing = backup.failing_since is not None
    yield _one("backup_failing", "gauge", "Whether the last backup failed.", failing)
    if backup.made is None:
        return
    yield _one(
        "backup_last_success_timestamp_seconds",
        "gauge",
        "When the last good backup was made.",
        backup.made,
    )
    yield _one("backup_bytes", "gauge", "Size of the last good backup.", backup.size)


def _of_node(overview: Overview) -> Iterator[Family]:
    importing = overview.importing
    yield _one("importing", "gauge", "Whether files are being imported.", importing is not None)
    disk = _family("disk_used_bytes", "gauge", "Disk space taken in the data folder.")
    for part, size in overview.disk.parts.items():
        disk.add(size, (("part", part),))
    yield disk
    yield _one(
        "disk_free_bytes", "gauge", "Free space on the disk of the data folder.", overview.disk.free
    )
    if overview.disk.free_files is not None:
        text = "How many more files there can be on that disk."
        yield _one("disk_free_inodes", "gauge", text, overview.disk.free_files)


def _family(name: str, kind: str, text: str) -> Family:
    return Family(f"mapshelf_{name}", kind, text)


def _one(name: str, kind: str, text: str, value: float, labels: Labels = ()) -> Family:
    family = _family(name, kind, text)
    family.add(value, labels)
    return family


def _by_queue(name: str, kind: str, text: str, values: Mapping[str, float]) -> Family:
    family = _family(name, kind, text)
    for queue, value in sorted(values.items()):
        family.add(value, (("queue", queue),))
    return family


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    """Return a number in the Prometheus format, integers without a fraction."""
    return str(int(value)) if value == int(value) else repr(float(value))
