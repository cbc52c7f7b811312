"""Simulate how many maps one node can handle. Run it with your own figures.

    python scripts/scaling.py [--changes PER_MINUTE] [--anew MICROSECONDS] …

The script simulates the builder change by change: changes arrive at random, the builder publishes a
snapshot with all that have arrived, and pauses in proportion to the time this took. The costs of a
snapshot are those measured with up to a million maps (``docs/benchmarks.md``); for more maps, they
are extrapolated. It uses only the standard library.
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

BUILDER: Final = 430_000_000
"""Further bytes of memory of a builder: the index that it writes, and the words that it caches."""

MIN_BUILD_INTERVAL: Final = 0.1
PAUSE_SHARE: Final = 1.0
MAX_PAUSE: Final = 0.5
"""Minimum seconds between snapshots, pause for each second of building, and maximum pause, as in
``service/build_loop.py``."""

MOST: Final = 20_000
"""Maximum changes in one snapshot, as in ``snapshot/build/builder.py``."""


KEPT: Final = 1024
"""Changes after which all orders have been rewritten (``snapshot/build/orders_writer.py``, where a
changed map counts twice)."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs, in seconds and bytes."""

    publish: float
    per_map: float
    per_change: float
    anew: float
    snapshot: int
    memory: int
    database: int

    def publishing(self, maps: int, changes: int) -> float:
        """Return how long a snapshot takes, including its share of rewriting the orders."""
        orders = maps * self.per_map * min(1.0, changes / KEPT)
        return self.publish + orders + changes * self.per_change


def lags(costs: Costs, maps: int, rate: float) -> list[float]:
    """Return for each change the time until it is visible, in ascending order."""
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
    """Return the figures for all sizes as a Markdown table."""
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
    """Print the table for the given costs."""
    parser = argparse.ArgumentParser(description="Estimate how a node scales with its maps.")
    parser.add_argument("--changes", type=float, default=1000, help="changes a minute (1000)")
    parser.add_argument("--publish", type=float, default=30, help="ms to publish a snapshot (30)")
    parser.add_argument("--per-map", type=float, default=0.8, help="µs per map for orders (0.8)")
    parser.add_argument("--per-change", type=float, default=0.65, help="ms per change (0.65)")
    parser.add_argument("--anew", type=float, default=640, help="µs per map of a full build (640)")
    parser.add_argument("--snapshot", type=int, default=2200, help="bytes per map in it (2200)")
    parser.add_argument("--memory", type=int, default=1000, help="bytes per map in builder (1000)")
    parser.add_argument("--database", type=int, default=900, help="bytes per map in it (900)")
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
