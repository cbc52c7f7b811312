"""How far one node's snapshot carries: a simulation to run with one's own figures.

    python scripts/scaling.py [--changes PER_MINUTE] [--anew MICROSECONDS] …

The builder's way of working is simulated change by change: changes come at random, a snapshot of
all that have come is published, and the builder rests in proportion to that. What a snapshot
takes is given by the costs measured up to a million maps (``docs/benchmarks.md``); beyond, they
are assumed to grow as they did. Nothing but the standard library is used.
"""

import argparse
import random
from collections import deque
from dataclasses import dataclass
from typing import Final

SIZES: Final = (10**4, 10**5, 10**6, 10**7, 10**8)
SEED: Final = 20260101
CHANGES: Final = 5000
"""Changes simulated for each size."""

BUILDER: Final = 500_000_000
"""Bytes of memory a builder has besides: the index it is writing, and words it keeps at hand."""

MIN_BUILD_INTERVAL: Final = 0.1
PAUSE_SHARE: Final = 1.0
MAX_PAUSE: Final = 0.5
"""Least seconds between snapshots, and rest for each second of building, as in
``service/build_process.py``."""

MOST: Final = 20_000
"""Changes in one snapshot, as in ``snapshot/build/builder.py``."""


KEPT: Final = 1024
"""Changes after which all orders have been rewritten (``snapshot/build/orders_writer.py``): a map
that changes counts there twice."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What things take, in seconds and bytes."""

    publish: float
    per_map: float
    per_change: float
    anew: float
    snapshot: int
    memory: int
    database: int

    def publishing(self, maps: int, changes: int) -> float:
        """Return how long a snapshot takes, with its share of writing the orders anew."""
        orders = maps * self.per_map * min(1.0, changes / KEPT)
        return self.publish + orders + changes * self.per_change


def lags(costs: Costs, maps: int, rate: float) -> list[float]:
    """Return for each change how long it takes to show, in ascending order."""
    dice = random.Random(SEED)  # noqa: S311 - a simulation, the same each time
    arrivals: deque[float] = deque()
    now = 0.0
    for _ in range(CHANGES):
        now += dice.expovariate(rate)
        arrivals.append(now)
    found: list[float] = []
    now = 0.0
    while arrivals:
        now = max(now, arrivals[0])
        taken: list[float] = []
        while arrivals and arrivals[0] <= now and len(taken) < MOST:
            taken.append(arrivals.popleft())
        took = costs.publishing(maps, len(taken))
        now += took
        found += (now - arrival for arrival in taken)
        now += max(MIN_BUILD_INTERVAL, min(MAX_PAUSE, PAUSE_SHARE * took))
    return sorted(found)


def table(costs: Costs, per_minute: float) -> str:
    """Return the figures for all sizes as a table in Markdown."""
    lines = [
        "| maps | full build | snapshot | builder memory | database | change visible after: median"
        " | p99 | publishing |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for maps in SIZES:
        lag = lags(costs, maps, per_minute / 60)
        cells = (
            f"{maps:,}",
            _time(maps * costs.anew),
            _size(maps * costs.snapshot),
            _size(BUILDER + maps * costs.memory),
            _size(maps * costs.database),
            _time(lag[len(lag) // 2]),
            _time(lag[len(lag) * 99 // 100]),
            _time(costs.publishing(maps, 1)),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def main() -> None:
    """Print the table for the costs given."""
    parser = argparse.ArgumentParser(description="How far one node's snapshot carries.")
    parser.add_argument("--changes", type=float, default=1000, help="changes a minute (1000)")
    parser.add_argument("--publish", type=float, default=30, help="ms of any snapshot (30)")
    parser.add_argument("--per-map", type=float, default=0.8, help="µs of orders for a map (0.8)")
    parser.add_argument("--per-change", type=float, default=0.65, help="ms for a change (0.65)")
    parser.add_argument("--anew", type=float, default=640, help="µs to build a map anew (640)")
    parser.add_argument("--snapshot", type=int, default=2200, help="bytes of a map in it (2200)")
    parser.add_argument("--memory", type=int, default=310, help="bytes in the builder (310)")
    parser.add_argument("--database", type=int, default=900, help="bytes of a map there (900)")
    given = parser.parse_args()
    costs = Costs(
        publish=given.publish / 1e3,
        per_map=given.per_map / 1e6,
        per_change=given.per_change / 1e3,
        anew=given.anew / 1e6,
        snapshot=given.snapshot,
        memory=given.memory,
        database=given.database,
    )
    print(table(costs, given.changes))


if __name__ == "__main__":
    main()
