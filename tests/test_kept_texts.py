"""Caches that last as long as a process do not keep long texts of clients and of maps.

Each of the texts is different and as long as possible, and hardly any memory is left afterwards.
"""

import gc
import random
import tracemalloc
from collections.abc import Callable
from typing import Final

import pytest

from mapshelf.api.http import MAXIMUM_QUERY_STRING
from mapshelf.search.highlight import Highlighter
from mapshelf.search.query_parser import parse_query_text
from mapshelf.site.addresses import Addresses

TEXTS: Final = 20
LONG: Final = 20_000
"""Characters of a long word; topics may have three times as many."""

chance: Final = random.Random(20_261_126)


def letters(count: int) -> str:
    return "".join(chance.choices("abcdefghij", k=count))


def marks(count: int) -> str:
    return "".join(chance.choices([chr(code) for code in range(0x300, 0x340)], k=count))


def highlight(text: str) -> None:
    Highlighter(parse_query_text("anchor"), ["en"]).within("en").highlights(text)


CASES: Final[dict[str, Callable[[], object]]] = {
    "words": lambda: highlight(f"anchor{letters(LONG)}"),
    "words with accents": lambda: highlight(f"anchoré{letters(LONG)}"),
    "marks": lambda: highlight(f"a\U0001d165{marks(LONG)}"),
    "owners": lambda: Addresses("").list_of("owner", letters(MAXIMUM_QUERY_STRING)),
}


def kept_by(use: Callable[[], object]) -> int:
    """Return how many bytes more are allocated after some uses."""
    tracemalloc.start()
    for _ in range(TEXTS):
        use()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


@pytest.mark.parametrize("case", CASES)
def test_long_texts_are_not_kept(case: str) -> None:
    use = CASES[case]
    use()
    # Threads that earlier tests left behind may allocate memory, too, but hardly every time.
    assert min(kept_by(use) for _ in range(5)) < TEXTS * MAXIMUM_QUERY_STRING / 4
