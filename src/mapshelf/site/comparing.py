"""Handle the comparison page, which shows the differences between two maps or versions of one map.

The page lists the differences and marks them in a drawing. Its URL is below that of the first map.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from mapshelf.api.comparing import EncodedOutline, Job, Side, find_sides
from mapshelf.api.context import Context
from mapshelf.api.documents import Kind
from mapshelf.api.http import Request, Response
from mapshelf.api.thumbnails import HARMLESS
from mapshelf.comparison import Branch, Change, Comparison, Move, Spot, compare
from mapshelf.errors import InvalidParameter
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import Outline
from mapshelf.query import read_parameters
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.site.addresses import Addresses
from mapshelf.site.messages import say
from mapshelf.site.page_resources import PageResources
from mapshelf.site.responses import FRESH, HTML, STRICT, Templates, Values
from mapshelf.writers.plain import one_line, sound

MOST_SHOWN: Final = 200
"""Maximum number of differences of each kind on the page; the API returns all of them."""

LONGEST_TEXT: Final = 1000
"""Maximum length of a text on the page, in characters."""

AT: Final = "/mindmaps/{id}/{slug}/compare/{other}"


class Compared(NamedTuple):
    """One of the two compared maps. It can be pickled and sent to another process.

    Attributes:
        id: its public ID.
        title: its title.
        version: the number of the version, 0 for the current one.
        file: the path of its file, empty if unknown.
    """

    id: str
    title: str
    version: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """The position of a topic, as shown on the page.

    Attributes:
        text: the text of the topic.
        path: the texts of its ancestors.
        place: its position among its siblings, from 1.
        address: the URL of the topic on its map's page, empty for a former version.
    """

    text: str
    path: Sequence[str]
    place: int
    address: str


@dataclass(frozen=True, slots=True)
class Row:
    """One difference between the maps.

    Attributes:
        where: the topic, in the new map; in the old map if it was removed.
        below: the number of descendants that were added or removed with it.
        was: its former position, if it was moved.
        facts: the changed properties: name, old value, new value.
    """

    where: Where
    below: int = 0
    was: Where | None = None
    facts: Sequence[tuple[str, str, str]] = ()


class ComparisonPages:
    """Handlers of the comparison page and its drawing."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self._context = context
        self._resources = resources

    async def page(self, request: Request) -> Response:
        """Answer the page that lists the differences between two maps."""
        sides = await find_sides(self._context, request, b"")
        compared = _compared(sides.before), _compared(sides.after)
        facts = (compared, self._context.settings.base_url, self._resources.common)
        job = Job(comparison_page, facts, Kind(HTML, (*STRICT, FRESH), compress=True))
        return await sides.response(self._context, request, job)

    async def drawing(self, request: Request) -> Response:
        """Answer the drawing of a comparison, as SVG.

        Raises:
            InvalidParameter: there is no such theme.
        """
        theme = read_parameters(request.query_string, ("theme",)).get("theme", LIGHT.name)
        if theme not in THEMES:
            raise InvalidParameter(f"The theme value must be one of {', '.join(THEMES)}.")
        sides = await find_sides(self._context, request, b"")
        title = say("compare.drawing", title=_compared(sides.after).title)
        kind = Kind(b"image/svg+xml", (HARMLESS, FRESH), compress=True)
        job = Job(drawing, (title, theme), kind)
        return await sides.response(self._context, request, job, theme.encode())


def _compared(side: Side) -> Compared:
    found = orjson.loads(side.found.record.body)
    file = side.found.record.details.source
    return Compared(found["ID"], found["Title"], side.version, file)


def drawing(before: Outline, after: EncodedOutline, title: str, theme: str) -> bytes:
    """Return the drawing of a comparison as SVG.

    The import is inside, so only processes that draw load the rendering modules.
    """
    from mapshelf.render.comparison_drawing import comparison_drawing  # noqa: PLC0415

    return comparison_drawing(before, decode_outline(after), title, theme)


def comparison_page(
    before: Outline,
    after: EncodedOutline,
    maps: tuple[Compared, Compared],
    base_url: str,
    common: Values,
) -> bytes:
    """Return the page of a comparison as HTML.

    It may run in a child process, so it loads the templates itself.
    """
    one, other = maps
    found = compare(before, decode_outline(after))
    addresses = Addresses(base_url)
    values = {
        "before": one,
        "after": other,
        "addresses": addresses,
        "drawing": comparison_address(addresses, one, other, ".svg"),
        "round": comparison_address(addresses, other, one),
        "kinds": _kinds(found, one, other, addresses),
        "most": MOST_SHOWN,
    }
    return Templates(common).text("compare.html", values).encode()


def comparison_address(
    addresses: Addresses, one: Compared, other: Compared, suffix: str = ""
) -> str:
    """Return the URL of the comparison page of two maps, with suffix ``.svg`` of the drawing."""
    page = addresses.of_map(one.id, one.title, f"compare/{other.id}{suffix}")
    versions = {"version": one.version, "other_version": other.version}
    given = {name: number for name, number in versions.items() if number}
    return f"{page}?{urlencode(given)}" if given else page


Kinds = list[tuple[str, int, list[Row]]]
"""The kinds of differences: for each the name, the number of differences, and the first ones."""


def _kinds(found: Comparison, one: Compared, other: Compared, addresses: Addresses) -> Kinds:
    there = partial(_where, other, addresses)
    formerly = partial(_where, one, addresses)

    def branch(where: Any, difference: Branch) -> Row:
        return Row(where(difference.spot, difference.text), difference.topics - 1)

    def move(difference: Move) -> Row:
        was = formerly(difference.before, difference.text)
        return Row(there(difference.after, difference.text), was=was)

    def change(difference: Change) -> Row:
        facts = [
            (name, _said(name, difference.before[name]), _said(name, difference.after[name]))
            for name in difference.after
        ]
        return Row(there(difference.spot, difference.text), facts=facts)

    return [
        ("added", len(found.added), [branch(there, one) for one in found.added[:MOST_SHOWN]]),
        (
            "removed",
            len(found.removed),
            [branch(formerly, one) for one in found.removed[:MOST_SHOWN]],
        ),
        ("moved", len(found.moved), [move(one) for one in found.moved[:MOST_SHOWN]]),
        ("changed", len(found.changed), [change(one) for one in found.changed[:MOST_SHOWN]]),
    ]


def _where(compared: Compared, addresses: Addresses, spot: Spot, text: str) -> Where:
    address = ""
    if not compared.version:
        address = addresses.topic(compared.id, compared.title, spot.topic)
    path = [one_line(step) or "\u2026" for step in spot.path]
    shown = one_line(text)[:LONGEST_TEXT] or say("map.untitled")
    return Where(shown, path, spot.place, address)


def _said(name: str, value: Any) -> str:
    """Return the value of a topic's property ``name`` as text; for images, their number."""
    if name == "images":
        return str(len(value))
    if isinstance(value, dict):
        words = [f"{say(f'task.{one}')}: {_plain(known)}" for one, known in value.items()]
        return ", ".join(words)
    return sound(_plain(value))[:LONGEST_TEXT]


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(": ".join(one) if isinstance(one, list) else one for one in value)
    return str(value)
