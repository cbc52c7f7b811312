"""The page of one map: what is known of it, all it says, and what else there is like it."""

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson
from markupsafe import Markup

from mapshelf.folding import fold
from mapshelf.model import Outline
from mapshelf.outlines import decode_outline
from mapshelf.query import MapQuery
from mapshelf.site.addresses import Addresses, safe_link
from mapshelf.site.cards import Card, card
from mapshelf.site.outline import outline_html
from mapshelf.site.texts import SCRIPT_ENGLISH, counted, say
from mapshelf.snapshot import Record, Snapshot
from mapshelf.store import Store
from mapshelf.writers import WRITERS

RELATED: Final = 6
"""Maps shown as related, at most."""

WORDS: Final = 4
"""Words of a title that are looked for in other maps, the longest ones."""

LONGEST_SUMMARY: Final = 200
"""Characters of the description that other sites show."""

_WORD: Final = re.compile(r"\w{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


@dataclass(frozen=True, slots=True)
class Download:
    """A file of a map: the format's name, its extension, its address."""

    name: str
    suffix: str
    address: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of what is known of a map; ``address`` is empty where there is nothing to open."""

    name: str
    value: str
    address: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class MapPage:
    """What the page of a map is filled with.

    Attributes:
        card: the map as in lists.
        summary: what other sites show of it.
        language: of what it says, empty if unknown.
        facts: what is known of it.
        elsewhere: the address of its page on another site, empty if it has none.
        downloads: its files.
        outline: all it says, ``None`` if that is not known.
        drawing: what the script draws from, empty likewise.
        carried: the picture that its file carries, small and large; ``None`` if it carries none.
        related: other maps.
        embed: what to copy into other pages.
        data: the page for search engines, in the words of schema.org.
        oembed: address of what describes how to embed it.
        said: the texts of the script.
    """

    card: Card
    summary: str
    language: str
    facts: list[Fact]
    elsewhere: str
    downloads: list[Download]
    outline: Markup | None
    drawing: str
    carried: tuple[str, str] | None
    related: list[Card]
    embed: str
    data: dict[str, Any]
    oembed: str
    said: dict[str, str]


class Cartographer:
    """Makes pages of maps from one snapshot."""

    def __init__(self, snapshot: Snapshot, store: Store, addresses: Addresses) -> None:
        self._snapshot = snapshot
        self._store = store
        self._addresses = addresses

    def page(self, record: Record) -> MapPage:
        """Return the page of a map.

        Raises:
            StoreUnavailable: the store cannot be reached.
            StoreDamaged: the outline cannot be read.
        """
        found = orjson.loads(record.body)
        encoded = self._store.outline(record.file_id)
        outline = decode_outline(encoded) if encoded else None
        shown = card(record, self._addresses, [])
        summary = _summary(found["Description"], outline)
        facts = self._facts(found, shown, outline)
        return MapPage(
            card=shown,
            summary=summary,
            language=outline.language if outline else "",
            facts=facts,
            elsewhere=self._elsewhere(found["URL"]),
            downloads=self._downloads(shown, outline, record),
            outline=outline_html(outline) if outline else None,
            drawing=self._addresses.drawing(shown.id) if outline else "",
            carried=self._carried(shown.id, outline),
            related=self._related(record, found),
            embed=embed_code(self._addresses.absolute(shown.address), shown.title),
            data=self._data(shown, found, summary, outline),
            oembed=self._addresses.oembed(self._addresses.absolute(shown.address)),
            said=dict(SCRIPT_ENGLISH),
        )

    def _facts(self, found: dict[str, str], shown: Card, outline: Outline | None) -> list[Fact]:
        library = self._addresses.library
        facts = [
            Fact(say("map.owner"), shown.owner, shown.owner_address),
            Fact(say("map.category"), shown.category, shown.category_address),
        ]
        if shown.software:
            ids = {row.name: row.id for row in self._store.software()}
            number = ids.get(shown.software)
            address = "" if number is None else library({"software": str(number)})
            facts.append(Fact(say("map.software"), shown.software, address))
        licences = {str(row.id): row.name for row in self._store.licence_types()}
        if found["LicenceTypeID"] in licences:
            facts.append(Fact(say("map.licence"), licences[found["LicenceTypeID"]]))
        if found["Copyright"].strip():
            facts.append(Fact(say("map.copyright"), found["Copyright"]))
        if outline:
            contents = (counted("topics", outline.topic_count), counted("levels", outline.depth))
            facts.append(Fact(say("map.contents"), ", ".join(contents)))
        if found["Size"]:
            facts.append(Fact(say("map.size"), say("map.size.kb", size=found["Size"])))
        facts.append(Fact(say("map.added"), shown.date, date=shown.added))
        return facts

    def _elsewhere(self, url: str) -> str:
        """Return the page that the record names, if it is not ours."""
        own = f"{self._addresses.root}/mindmaps/"
        address = safe_link(url) or ""
        return "" if url.startswith((own, "/mindmaps/")) else address

    def _downloads(self, shown: Card, outline: Outline | None, record: Record) -> list[Download]:
        page = shown.address
        files = []
        if self._store.content(record.file_id) is not None:
            files.append(Download(say("map.original"), "", f"{page}/original"))
        if outline:
            files += [
                Download(writer.name, writer.suffix, f"{page}.{writer.suffix}")
                for writer in WRITERS
            ]
        return files

    def _carried(self, public_id: str, outline: Outline | None) -> tuple[str, str] | None:
        if outline is None or not outline.picture:
            return None
        small, large = (self._addresses.carried(public_id, width) for width in (320, 1280))
        return small, large

    def _related(self, record: Record, found: dict[str, str]) -> list[Card]:
        """Return maps that share long words of the title, those of the same category first."""
        category = (("category", int(found["CategoryID"])),)
        words = sorted(
            set(_WORD.findall(fold(found["Title"]))), key=lambda word: (-len(word), word)
        )
        queries = [
            # The blank after the word says that it is complete.
            MapQuery(f"{word} ", order=None, filters=filters, limit=RELATED + 1)
            for filters in (category, ())
            for word in words[:WORDS]
        ]
        queries.append(MapQuery(order="rating", filters=category, limit=RELATED + 1))
        kept: dict[int, Record] = {}
        for query in queries:
            for hit in self._snapshot.search(query, b"", correct=False).records:
                if hit.file_id != record.file_id and len(kept) < RELATED:
                    kept.setdefault(hit.file_id, hit)
            if len(kept) == RELATED:
                break
        return [card(hit, self._addresses, []) for hit in kept.values()]

    def _data(
        self, shown: Card, found: dict[str, str], summary: str, outline: Outline | None
    ) -> dict[str, Any]:
        absolute = self._addresses.absolute
        data: dict[str, Any] = {
            "@context": "https://schema.org",
            "@type": "CreativeWork",
            "genre": "Mind map",
            "name": shown.title,
            "description": summary,
            "url": absolute(shown.address),
            "image": absolute(self._addresses.thumbnail(shown.id, 1280)),
            "thumbnailUrl": absolute(shown.small),
            "dateCreated": shown.added,
            "author": {"@type": "Person", "name": shown.owner},
            "about": shown.category,
        }
        if found["Copyright"]:
            data["copyrightNotice"] = found["Copyright"]
        if outline and outline.language:
            data["inLanguage"] = outline.language
        return data


def embed_code(page: str, title: str) -> str:
    """Return HTML that shows a map inside another page."""
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
