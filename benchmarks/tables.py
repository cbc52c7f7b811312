"""Markdown tables, number formats, and readable labels of measurements."""

from collections.abc import Iterator
from typing import Any, Final

Sizes = dict[str, dict[str, Any]]
"""Figures by the number of maps."""

LABELS: Final = {
    "listing": "plain list, no search",
    "list all": "list, no filters",
    "one page": "one list, repeated",
    "nginx": "the same bytes from nginx",
    "users/me": "`/users/me`",
    "many listings": "lists, all different",
    "many searches": "searches, all different",
    "a mixture": "lists and searches, mixed",
    "page again": "one list, repeated",
    "/users/me": "`/users/me`",
    "/maps/{ID} again": "`/maps/{ID}`, repeated",
    "thumbnails again": "thumbnails, repeated",
    "library page again": "library page, repeated",
    "library page new": "library page, first request",
    "library page new, other filters": "library page, first request, other filters",
    "page of a search, new": "library page of a search, first request",
    "library page, first after a publication": "library page, first after an update",
    "floor: the same page, handed over": "the same bytes from an empty application",
    "middling word as typed (or its beginning)": "medium-frequency word, also as a prefix",
    "middling word without another": "medium-frequency word, excluding another",
    "beginning, three letters": "prefix, three letters",
    "beginning, one letter": "prefix, one letter",
    "page, everything mixed": "page of a list, all filters mixed",
    "list, everything mixed, fresh": "list, all filters mixed, first request",
    "list, everything mixed, again": "list, all filters mixed, repeated",
    "taking up a snapshot": "loading a snapshot",
}
"""Labels for names in results files that are unclear to readers of the tables."""

WORDS: Final = {
    "middling word": "medium-frequency word",
    "middling": "medium",
    "list category": "list by category",
    "list software": "list by software",
    "list owner": "list by owner",
    "list only_templates": "list by only_templates",
    "map page new": "map page, first request",
}
"""Replacements in other names."""


def label(name: str) -> str:
    """Return the label in tables for a name in results files."""
    if name in LABELS:
        return LABELS[name]
    for word, better in WORDS.items():
        name = name.replace(word, better)
    return name


def having(sizes: Sizes, part: str) -> Sizes:
    """Return the figures of one part for each size that has them."""
    return {size: figures[part] for size, figures in sizes.items() if part in figures}


def header(*names: str) -> Iterator[str]:
    """Yield the first two lines of a table; all columns but the first are numbers."""
    yield row(*names)
    yield row("---", *("---:" for _ in names[1:]))


def row(*cells: str) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def number(value: float | None) -> str:
    """Return a number with three significant digits, empty for ``None``."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def count(size: str) -> str:
    """Return a number of maps with thousands separators."""
    return f"{int(size):,}"


def megabytes(amount: int) -> str:
    """Return a number of bytes in megabytes."""
    return f"{amount / 1e6:,.0f} MB"
