"""``mapshelf status``: the state of an installation at a glance."""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from mapshelf.backup_status import BackupStatus
from mapshelf.cli.catalogue_options import add_catalogue_options
from mapshelf.errors import StoreError
from mapshelf.metrics.counts import BOUNDS, Counts
from mapshelf.metrics.overview import Overview, StoreState, ask, look
from mapshelf.plurals import noun
from mapshelf.service.clock_check import clock_warning
from mapshelf.service.data_folder_lock import is_in_use
from mapshelf.settings import without_password
from mapshelf.store import open_store

FEW_INODES: Final = 10_000
"""Number of free inodes below which they are shown."""

OPERATIONS_SHOWN: Final = 5
"""Operations that are shown to a person: the most frequent ones. ``--json`` has all."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    store, fault = _ask(given.database)
    overview = look(given.data, store)
    facts = _facts(overview, serving=is_in_use(given.data), fault=fault)
    facts = {"database": without_password(given.database), "data": str(given.data), **facts}
    if given.json:
        print(json.dumps(facts, indent=2))
    else:
        _show(facts)
    return 1 if fault else 0


def _ask(url: str) -> tuple[StoreState | None, str]:
    """Return the state of the store, or the error if it cannot be reached."""
    try:
        store = open_store(url, create=False)
        try:
            return ask(store), ""
        finally:
            store.close()
    except StoreError as error:
        return None, str(error)


def _facts(overview: Overview, *, serving: bool, fault: str) -> dict[str, Any]:
    """Return an overview as JSON values; keys may be added, but never renamed."""
    return {
        "serving": serving,
        "store": _store(overview.store, fault),
        "snapshot": _snapshot(overview),
        "import": (
            {"done": overview.importing.done, "total": overview.importing.total}
            if overview.importing
            else None
        ),
        "backup": _backup(overview.backup),
        "requests": _requests(overview.counts) if serving else None,
        "disk": {"free": overview.disk.free, **overview.disk.parts},
        "free_inodes": overview.disk.free_files,
    }


def _store(store: StoreState | None, fault: str) -> dict[str, Any]:
    if store is None:
        return {"reachable": False, "error": fault}
    return {
        "reachable": True,
        "milliseconds": round(store.seconds * 1000, 2),
        "clock_ahead_seconds": round(store.clock_difference, 1),
        "revision": store.revision,
        "sessions": store.figures.sessions,
        "outdated_maps": store.figures.outdated,
        "refused_files": {kind.value: count for kind, count in store.refusals.items()},
    }


def _snapshot(overview: Overview) -> dict[str, Any] | None:
    found = overview.snapshot
    if found is None:
        return None
    return {
        "maps": found.maps,
        "revision": found.revision,
        "bytes": found.size,
        "published": _moment(found.published),
        "age_seconds": _seconds_since(found.published),
        "pending_changes": overview.pending,
    }


def _backup(backup: BackupStatus) -> dict[str, Any]:
    return {
        "made": None if backup.made is None else _moment(backup.made),
        "age_seconds": None if backup.made is None else _seconds_since(backup.made),
        "bytes": backup.size,
        "failing_seconds": (
            None if backup.failing_since is None else _seconds_since(backup.failing_since)
        ),
        "reason": backup.reason,
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _seconds_since(moment: float) -> int:
    """Return how long ago a moment was; 0 if the clock has been set back since."""
    return max(0, round(time.time() - moment))


def _requests(counts: Counts) -> dict[str, Any]:
    """Return what the workers have done since the service started."""
    statuses: dict[str, int] = {}
    for about, (count,) in counts.totals.get("requests", {}).items():
        status = about.rpartition("\t")[2]
        statuses[status] = statuses.get(status, 0) + int(count)
    tasks = counts.totals.get("tasks", {})
    lengths = counts.gauges.get("queues", {})
    return {
        "workers": counts.workers,
        "total": sum(statuses.values()),
        "by_status": dict(sorted(statuses.items())),
        "errors": {
            name: int(count)
            for name, (count,) in sorted(counts.totals.get("errors", {}).items())
            if count
        },
        **_durations(_buckets(counts)),
        "operations": _operations(counts),
        "rate_limited": {
            name: int(count) for name, (count,) in sorted(counts.totals.get("limited", {}).items())
        },
        "refused_connections": int(sum(counts.total("connections", "refused"))),
        "memory_bytes": int(sum(counts.gauges.get("memory", {}).get("", []))),
        "queues": {
            name: {
                "waiting": int(sum(lengths.get(name, [])[:1])),
                "done": int(numbers[0]),
                "refused": int(numbers[1] + numbers[2]),
            }
            for name, numbers in sorted(tasks.items())
            if any(numbers) or any(lengths.get(name, []))
        },
    }


def _operations(counts: Counts) -> dict[str, dict[str, Any]]:
    """Return the number and durations of requests by operation, the most frequent ones first."""
    found: dict[str, dict[str, Any]] = {
        name: {"total": int(sum(buckets)), **_durations(buckets)}
        for name, (*buckets, _seconds) in sorted(counts.totals.get("durations", {}).items())
    }
    return dict(sorted(found.items(), key=lambda item: item[1]["total"], reverse=True))


def _buckets(counts: Counts) -> list[float]:
    """Return the number of requests in each bucket of durations, of all operations."""
    sums = [0.0] * (len(BOUNDS) + 1)
    for numbers in counts.totals.get("durations", {}).values():
        sums = [one + other for one, other in zip(sums, numbers[:-1], strict=True)]
    return sums


def _durations(buckets: Sequence[float]) -> dict[str, float | None]:
    return {
        "half_within_seconds": _quantile(buckets, 0.5),
        "99_percent_within_seconds": _quantile(buckets, 0.99),
    }


def _quantile(buckets: Sequence[float], share: float) -> float | None:
    """Return a duration that this share of requests stayed within; ``None`` if unknown."""
    reached = 0.0
    for bound, count in zip(BOUNDS, buckets[:-1], strict=True):
        reached += count
        if reached and reached >= share * sum(buckets):
            return bound
    return None


def _show(facts: dict[str, Any]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _rows(facts):
        table.add_row(name, text)
    Console(highlight=False, markup=False).print(table)


def _rows(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    requests, store, snapshot = facts["requests"], facts["store"], facts["snapshot"]
    yield "service", _service(requests) if facts["serving"] else "not running"
    yield "data", facts["data"]
    yield "database", facts["database"]
    if not store["reachable"]:
        yield "store", f"unreachable: {store['error']}"
    else:
        yield "store", f"answers in {store['milliseconds']} ms, revision {store['revision']}"
        if warning := clock_warning(store["clock_ahead_seconds"]):
            yield "clock", warning
        yield "sessions", f"{store['sessions']:,}"
        yield "outdated", f"{_counted(store['outdated_maps'], 'map')} will be read again"
        refused = ", ".join(f"{count:,} {kind}" for kind, count in store["refused_files"].items())
        yield "files", refused
    if snapshot is None:
        yield "snapshot", "none yet; serve will build it"
    else:
        yield (
            "snapshot",
            (
                f"{_counted(snapshot['maps'], 'map')}, {_bytes(snapshot['bytes'])},"
                f" published {_time(snapshot['age_seconds'])} ago"
            ),
        )
        if snapshot["pending_changes"] is not None:
            changes = _counted(snapshot["pending_changes"], "change is", "changes are")
            yield "pending", f"{changes} not in the snapshot yet"
    if facts["import"]:
        yield (
            "import",
            f"{facts['import']['done']:,} of {_counted(facts['import']['total'], 'file')}",
        )
    yield "backup", _backup_text(facts["backup"])
    yield "disk", _disk_text(facts)
    if requests:
        yield from _rows_of_requests(requests)


def _rows_of_requests(requests: dict[str, Any]) -> Iterator[tuple[str, str]]:
    statuses = ", ".join(
        f"{count:,} with {status}" for status, count in requests["by_status"].items()
    )
    yield "requests", f"{requests['total']:,}" + (f" ({statuses})" if statuses else "")
    if text := _durations_text(requests):
        yield "durations", text
    for name, operation in islice(requests["operations"].items(), OPERATIONS_SHOWN):
        text = f"{name}: {operation['total']:,}, {_durations_text(operation)}"
        yield "operation", text.removesuffix(", ")
    if requests["rate_limited"]:
        limited = (f"{count:,} by {name}" for name, count in requests["rate_limited"].items())
        yield "limited", ", ".join(limited)
    if requests["refused_connections"]:
        yield "refused", _counted(requests["refused_connections"], "connection")
    yield "memory", f"{_bytes(requests['memory_bytes'])} in workers"
    if requests["errors"]:
        yield "errors", ", ".join(f"{count:,} {name}" for name, count in requests["errors"].items())
    for name, queue in requests["queues"].items():
        yield (
            f"queue {name}",
            f"{queue['waiting']:,} waiting, {queue['done']:,} done, {queue['refused']:,} refused",
        )


def _durations_text(durations: dict[str, Any]) -> str:
    half, most = durations["half_within_seconds"], durations["99_percent_within_seconds"]
    if half and most:
        return f"half within {half * 1000:g} ms, 99 % within {most * 1000:g} ms"
    return ""


def _disk_text(facts: dict[str, Any]) -> str:
    if not Path(facts["data"]).exists():
        return "the data folder does not exist"
    sizes = [f"{name} {_bytes(size)}" for name, size in facts["disk"].items()]
    if facts["free_inodes"] is not None and facts["free_inodes"] < FEW_INODES:
        sizes.append(f"only {_counted(facts['free_inodes'], 'free inode')}")
    return ", ".join(sizes)


def _backup_text(backup: dict[str, Any]) -> str:
    text = "none made by Mapshelf"
    if backup["made"] is not None:
        text = f"made {_time(backup['age_seconds'])} ago, {_bytes(backup['bytes'])}"
    if backup["failing_seconds"] is not None:
        text += f"; failing for {_time(backup['failing_seconds'])}: {backup['reason']}"
    return text


def _service(requests: dict[str, Any]) -> str:
    return f"running, {_counted(requests['workers'], 'worker')}"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {noun(count, one, many)}"


def _bytes(size: int) -> str:
    """Return a size with a unit that a person can read."""
    if size < 1 << 20:
        return f"{size / 1024:.0f} KiB"
    return f"{size / (1 << 20):,.1f} MiB" if size < 1 << 30 else f"{size / (1 << 30):,.1f} GiB"


def _time(seconds: int) -> str:
    """Return a duration with a unit that a person can read."""
    for name, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {name}"
    return f"{seconds} {noun(seconds, 'second')}"
