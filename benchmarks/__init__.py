"""What Mapshelf takes: time, memory and throughput, on catalogues that anyone can make again.

Run ``python -m benchmarks``; read ``docs/benchmarks.md`` first for what the figures do not say.
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
"""What can be measured, each for itself."""
