"""Render the page of a map: its facts, all its topics, and related maps."""

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Protocol

import orjson
from markupsafe import Markup

from mapshelf.api.map_links import LinkedMap, linked_maps, linking_maps
from mapshelf.formats.map_links import topic_of
from mapshelf.model import Outline, Visibility, file_of, folder_of
from mapshelf.render.formulas import Mathml, formulas_of, mathml
from mapshelf.render.render_request import DRAWING_FORMATS
from mapshelf.site.addresses import Addresses, safe_link
from mapshelf.site.cards import Card, card
from mapshelf.site.choices import Choice
from mapshelf.site.escaping import escaped
from mapshelf.site.facets import folder_steps
from mapshelf.site.map_facts import Fact, facts_of
from mapshelf.site.messages import say
from mapshelf.site.outline import outline_html
from mapshelf.site.responses import Templates, Values
from mapshelf.site.topic_details import PageLink
from mapshelf.site.twins import TwinRow, about_the_same, twins_of
from mapshelf.snapshot.read import Details, Record, Snapshot
from mapshelf.store.contract import Links, Maps
from mapshelf.store.contract.publishing import MapsOfPeople
from mapshelf.writers import WRITERS

RELATED: Final = 6  # most related maps shown
LINKED_FROM: Final = 20  # most maps shown that link to it
LONGEST_SUMMARY: Final = 200  # characters of the description for other sites


@dataclass(frozen=True, slots=True)
class MapPage:
    """The variables of the template of a map's page.

    Attributes:
        card: the map's card, as in lists.
        summary: a short description for link previews and search engines.
        language: ISO 639-1 code of the language of its topics, empty if unknown.
        folders: the folders that contain its file, the outermost first.
        facts: facts about it.
        elsewhere: URL of its page on another site, empty if it has none.
        downloads: links to its files as HTML list items, empty if there are none.
        outline: all topics as HTML, ``None`` without an outline.
        map_data: URL of the data for the script, empty without an outline.
        images: URL of the pictures in topics, without the digest.
        preview: URLs of the preview in its file, small and large; ``None`` if it has none.
        linked_from: maps that link to it.
        links_left: number of further maps that link to it.
        twins: maps with the same topics.
        related: other maps.
        embed: HTML for embedding it in other pages.
        data: its schema.org description, for search engines.
        oembed: URL of its oEmbed description.
        visibility: its visibility.
        listed: whether lists contain it, so that its URL may be published.
    """

    card: Card
    summary: str
    language: str
    folders: tuple[Choice, ...]
    facts: list[Fact]
    elsewhere: str
    downloads: Markup
    outline: Markup | None
    map_data: str
    images: str
    preview: tuple[str, str] | None
    linked_from: list[PageLink]
    links_left: int
    twins: list[TwinRow]
    related: list[Card]
    embed: str
    data: dict[str, Any]
    oembed: str
    visibility: str
    listed: bool


@dataclass(frozen=True, slots=True)
class Known:
    """All data about a map except its outline. Picklable, for sending to another process.

    Attributes:
        found: the Map object.
        card: the map as in lists.
        software: URL of the list of maps made with the same program, empty if there is none.
        licence: name of the licence, empty if unknown.
        has_file: whether its original file is stored.
        linked: the targets of its links to maps, by link.
        linking: links from other maps to it, at most one per map.
        twins: maps with the same topics.
        related: other maps.
        visibility: its visibility.
        file: name of its file, empty if unknown.
        details: further data shown in lists.
    """

    found: dict[str, str]
    card: Card
    software: str
    licence: str
    has_file: bool
    linked: dict[str, LinkedMap]
    linking: list[LinkedMap]
    twins: list[TwinRow]
    related: list[Card]
    visibility: str
    file: str
    details: Details


class PageContent(NamedTuple):
    """The topics of a map, and its formulas as MathML, keyed by LaTeX."""

    outline: Outline
    formulas: Mathml


class MapPageStore(Maps, Links, MapsOfPeople, Protocol):
    """The store methods that the page of a map needs."""


def known_of(
    store: MapPageStore,
    addresses: Addresses,
    record: Record,
    snapshot: Snapshot,
    visibility: Visibility,
) -> Known:
    """Return the data about a map.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    found = orjson.loads(record.body)
    programs = {row.name: row.id for row in store.software()}
    program = programs.get(found["Software"])
    licences = {str(row.id): row.name for row in store.licence_types()}
    kept = store.kept_file(record.file_id)
    record = replace(record, details=_details(record, found["ID"], store))
    return Known(
        found=found,
        card=card(record, addresses, []),
        software="" if program is None else addresses.library({"software": str(program)}),
        licence=licences.get(found["LicenceTypeID"], ""),
        has_file=kept is not None,
        linked=linked_maps(store, snapshot, record.file_id),
        linking=_linking(record, found["ID"], snapshot, store),
        twins=twins_of(record, found["ID"], snapshot, store, addresses),
        related=about_the_same(found["ID"], snapshot, addresses, RELATED),
        visibility=visibility.value,
        file=file_of(record.details.source) or (kept.name if kept else ""),
        details=record.details,
    )


def _details(record: Record, public_id: str, store: MapPageStore) -> Details:
    """Return the list data of a map, even if it is unlisted."""
    if record.details.edited is not None:
        return record.details
    origin, found = store.origin(record.file_id), store.find_map(public_id)
    return Details(origin.source, origin.modified, tags=found.tags if found else ())


def large_map_body(
    outline: Outline, known: Known, base_url: str, common: Values, embedded: bool
) -> bytes:
    """Return the page of a map; runs in a process that has not loaded templates yet."""
    content = PageContent(outline, mathml(formulas_of(topic for _, topic in outline.topics())))
    templates = Templates(common)
    return map_body(content, known, Addresses(base_url), templates, embedded=embedded)


def map_body(
    content: PageContent | None,
    known: Known,
    addresses: Addresses,
    templates: Templates,
    *,
    embedded: bool,
) -> bytes:
    """Return the page of a map as HTML; ``embedded`` selects the version for other sites."""
    page = _map_page(known, content, addresses, embedded=embedded)
    values = {"page": page, "absolute": addresses.absolute}
    return templates.text("embed.html" if embedded else "map.html", values).encode()


def _map_page(
    known: Known, content: PageContent | None, addresses: Addresses, *, embedded: bool
) -> MapPage:
    shown = known.card
    outline = content.outline if content else None
    page = addresses.absolute(shown.address)
    summary = _summary(known.found["Description"], outline)
    return MapPage(
        card=shown,
        summary=summary,
        language=outline.language if outline else "",
        folders=folder_steps({"folder": folder_of(known.details.source)}, addresses),
        facts=facts_of(known, outline, addresses),
        elsewhere=_elsewhere(known.found["URL"], addresses),
        downloads=_downloads(known, outline, addresses),
        outline=_outline_html(known, content, addresses, embedded) if content else None,
        map_data=addresses.map_data(shown.id) if outline else "",
        images=addresses.images(shown.id),
        preview=_preview(shown.id, outline, addresses),
        linked_from=[
            PageLink(addresses.topic(other.id, other.title, other.topic), other.title)
            for other in known.linking[:LINKED_FROM]
        ],
        links_left=max(0, len(known.linking) - LINKED_FROM),
        twins=known.twins,
        related=known.related,
        embed=embed_code(page, shown.title),
        data=_data(known, summary, outline, addresses),
        oembed=addresses.oembed(page),
        visibility=known.visibility,
        listed=known.visibility == Visibility.PUBLISHED.value,
    )


def _outline_html(
    known: Known, content: PageContent, addresses: Addresses, embedded: bool
) -> Markup:
    maps = {
        link: PageLink(addresses.topic(other.id, other.title, topic_of(link)), other.title or link)
        for link, other in known.linked.items()
    }
    # Only the embedded version may be framed by another page.
    images = addresses.images(known.card.id)
    return outline_html(content.outline, images, maps, content.formulas, apart=embedded)


def _linking(record: Record, public_id: str, snapshot: Snapshot, store: Links) -> list[LinkedMap]:
    """Return the first link to a map from each other map."""
    links = linking_maps(store, snapshot, record.file_id, public_id)
    first = {link.id: link for link in reversed(links) if link.id != public_id}
    return list(reversed(first.values()))


def _elsewhere(url: str, addresses: Addresses) -> str:
    """Return the external page in the map's record, if any."""
    own = f"{addresses.root}/mindmaps/"
    address = safe_link(url) or ""
    return "" if url.startswith((own, "/mindmaps/")) else address


def _downloads(known: Known, outline: Outline | None, addresses: Addresses) -> Markup:
    page = known.card.address
    files = []
    if known.has_file:
        files.append(_download(f"{page}/original", say("map.original")))
    if outline:
        files += [
            _download(f"{page}.{writer.suffix}", writer.name, writer.suffix) for writer in WRITERS
        ]
        files += [
            _download(addresses.drawing(known.card.id, suffix), say("map.drawing"), suffix)
            for suffix in DRAWING_FORMATS
        ]
    return Markup("".join(files))  # noqa: S704 - every text in it is escaped


def _download(address: str, name: str, suffix: str = "") -> str:
    ending = f' <span class="suffix">.{suffix}</span>' if suffix else ""
    return (
        f'<li><a href="{escaped(address)}" download rel="nofollow">{escaped(name)}{ending}</a>'
        "</li>\n"
    )


def _preview(
    public_id: str, outline: Outline | None, addresses: Addresses
) -> tuple[str, str] | None:
    if outline is None or not outline.picture:
        return None
    small, large = (addresses.preview(public_id, width) for width in (320, 1280))
    return small, large


def _data(
    known: Known, summary: str, outline: Outline | None, addresses: Addresses
) -> dict[str, Any]:
    shown, absolute = known.card, addresses.absolute
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "CreativeWork",
        "genre": "Mind map",
        "name": shown.title,
        "description": summary,
        "url": absolute(shown.address),
        "image": absolute(addresses.thumbnail(shown.id, 1280)),
        "thumbnailUrl": absolute(shown.small),
        "dateCreated": shown.added,
    }
    if not shown.is_of_system:
        data["author"] = {"@type": "Person", "name": shown.owner}
    if not shown.is_uncategorised:
        data["about"] = shown.category
    if known.found["Copyright"]:
        data["copyrightNotice"] = known.found["Copyright"]
    if outline and outline.language:
        data["inLanguage"] = outline.language
    return data


def embed_code(page: str, title: str) -> str:
    """Return HTML that embeds a map in another page."""
    return str(
        Markup(
            '<iframe src="{}?embed=1" title="{}" width="800" height="600" loading="lazy" '
            'allowfullscreen style="border:1px solid #ccc;max-width:100%"></iframe>'
        ).format(page, title)
    )


def _summary(description: str, outline: Outline | None) -> str:
    text = " ".join(description.split())
    if not text and outline:
        names = (" ".join(topic.text.split()) for topic in outline.roots[0].children)
        text = " · ".join(name for name in names if name)
    return text if len(text) <= LONGEST_SUMMARY else text[: LONGEST_SUMMARY - 1].rstrip() + "…"
