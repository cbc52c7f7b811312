"""Links of lists: values of facets, orders, pages. Those of facets become HTML here.

A page has over a hundred facet values. A template would take several microseconds for each, which
is a third of the time to render a page.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from mapshelf.site.escaping import escaped


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet, or an order; ``count`` is -1 where there is no count."""

    name: str
    address: str
    count: int = -1
    chosen: bool = False


def choice_rows(choices: Iterable[Choice]) -> Markup:
    """Return values with their counts as the items of a list, each with its link."""
    return Markup("".join(map(_row, choices)))  # noqa: S704 - every text in it is escaped


def _row(choice: Choice) -> str:
    current = ' aria-current="true"' if choice.chosen else ""
    return (
        f'<li><a href="{escaped(choice.address)}"{current}><bdi>{escaped(choice.name)}</bdi>'
        f' <span class="count">{choice.count}</span></a></li>\n'
    )
