"""Benchmarks of latency, throughput and memory on generated catalogues, which you can reproduce.

Run ``python -m benchmarks``. First read the caveats in ``docs/benchmarks.md``.
"""

from typing import Final

PARTS: Final = (
    "listing",
    "searching",
    "library",
    "building",
    "serving",
    "costs",
    "freshness",
    "changing",
    "ageing",
    "hostile",
    "overload",
    "excess",
    "fuzzing",
    "nodes",
    "peers",
)
"""The parts of the benchmark, which you can run one by one."""
