"""List the facts about a map, such as licence and size, that its page shows beside the topics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import Outline
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card, iso_date
from mapshelf.site.choices import Choice
from mapshelf.site.facets import language_name
from mapshelf.site.messages import counted, say
from mapshelf.snapshot.read import Details


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a map.

    Attributes:
        name: its label.
        value: its value as text.
        address: the URL to which the value links, empty without a link.
        date: the value in machine-readable form if it is a date, otherwise empty.
        links: the links to show instead of the value, if the fact is a list.
    """

    name: str
    value: str
    address: str = ""
    date: str = ""
    links: tuple[Choice, ...] = ()


class KnownFacts(Protocol):
    """The data about a map that its facts come from; see ``map_page.Known``."""

    @property
    def found(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def card(self) -> Card: ...  # noqa: D102
    @property
    def software(self) -> str: ...  # noqa: D102
    @property
    def licence(self) -> str: ...  # noqa: D102
    @property
    def file(self) -> str: ...  # noqa: D102
    @property
    def details(self) -> Details: ...  # noqa: D102


def facts_of(known: KnownFacts, outline: Outline | None, addresses: Addresses) -> list[Fact]:
    """Return the facts about a map in display order."""
    return [
        *_of_record(known, addresses),
        *(_of_outline(outline, addresses) if outline else ()),
        *_of_file(known, outline),
    ]


def _of_record(known: KnownFacts, addresses: Addresses) -> Iterator[Fact]:
    shown = known.card
    if not shown.is_of_system:
        yield Fact(say("map.owner"), shown.owner, shown.owner_address)
    if not shown.is_uncategorised:
        yield Fact(say("map.category"), shown.category, shown.category_address)
    if known.details.tags:
        links = (Choice(tag, addresses.library({"tag": tag})) for tag in known.details.tags)
        yield Fact(say("map.tags"), "", links=tuple(links))
    if shown.software:
        yield Fact(say("map.software"), shown.software, known.software)
    if known.licence:
        yield Fact(say("map.licence"), known.licence)
    if known.found["Copyright"].strip():
        yield Fact(say("map.copyright"), known.found["Copyright"])


def _of_outline(outline: Outline, addresses: Addresses) -> Iterator[Fact]:
    if outline.author.strip():
        yield Fact(say("map.author"), outline.author)
    if outline.language:
        address = addresses.library({"language": outline.language})
        yield Fact(say("map.language"), language_name(outline.language), address)
    depths = [depth for depth, _ in outline.topics()]
    levels = 1 + max(depths, default=-1)
    contents = (counted("topics", len(depths)), counted("levels", levels))
    yield Fact(say("map.contents"), ", ".join(contents))


def _of_file(known: KnownFacts, outline: Outline | None) -> Iterator[Fact]:
    if known.file:
        yield Fact(say("map.file"), known.file)
    if known.found["Size"]:
        yield Fact(say("map.size"), say("map.size.kb", size=known.found["Size"]))
    yield Fact(say("map.added"), known.card.date, date=known.card.added)
    if outline and outline.created is not None:
        yield _dated("map.created", outline.created)
    said = outline.modified if outline else None
    edited = known.details.edited if said is None else said
    if edited is not None:
        yield _dated("map.edited", edited)


def _dated(key: str, milliseconds: int) -> Fact:
    date = format_date(milliseconds)
    return Fact(say(key), date[:10], date=iso_date(date))
