"""Tables in Markdown, and numbers short enough for them."""

from collections.abc import Iterator


def header(*names: str) -> Iterator[str]:
    """Yield the first two lines of a table; all columns but the first are numbers."""
    yield row(*names)
    yield row("---", *("---:" for _ in names[1:]))


def row(*cells: str) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def number(value: float | None) -> str:
    """Return a number with three digits that count, nothing for ``None``."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def megabytes(count: int) -> str:
    """Return a number of bytes in megabytes."""
    return f"{count / 1e6:,.0f} MB"
