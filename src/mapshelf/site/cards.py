"""Build map cards: the data of a map as shown in lists, with URLs of this site.

Records may have external URLs for thumbnail and page. Lists do not use them: the URLs are
untrusted, and loading an image from another host would reveal to it who views which map.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from markupsafe import Markup

from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import SYSTEM_USER, UNCATEGORISED
from mapshelf.search.snippets import Snippet
from mapshelf.site.addresses import Addresses
from mapshelf.site.escaping import breakable
from mapshelf.snapshot.read import Record
from mapshelf.text.normalize import normalize


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic that matches a search.

    Attributes:
        address: URL of the map's page, opened at the topic.
        path: the texts of its ancestors.
        text: its text with highlights.
        note: an excerpt of its note with highlights, empty if nothing in the note matches.
    """

    address: str
    path: list[str]
    text: Markup
    note: Markup


@dataclass(frozen=True, slots=True)
class Card:
    """A map in a list; counts such as ``views`` come from the record.

    Attributes:
        edited: time of the last edit (RFC 3339), empty if unknown.
        edited_date: the date of ``edited``.
        file: path of its file relative to the imported folder, empty if unknown.
        place: the path to display, with highlights. Set only if it matches a search, or if another
            map in the list has the same title; then it is relative to ``within``.
        folder: path of the folder of its file, empty if unknown.
        folder_address: URL of the list of maps in that folder and its subfolders.
        size: size of its file in kilobytes, empty if unknown.
        topic_count: number of topics, 0 if unknown.
        versions: maps with the same topics that are folded into this card.
        within: the listed folder, which the card omits from paths; empty for all maps.
        number: its place on the page of a list, before folding: links lead to it.
    """

    id: str
    title: str
    description: str
    address: str
    small: str
    large: str
    small_dark: str
    large_dark: str
    owner: str
    owner_address: str
    category: str
    category_address: str
    software: str
    added: str
    date: str
    views: int
    downloads: int
    thumbs_up: int
    topics: list[FoundTopic]
    edited: str
    edited_date: str
    file: str
    place: Markup
    folder: str
    folder_address: str
    size: str
    topic_count: int
    versions: "Sequence[Card]" = ()
    within: str = ""
    number: int = 0

    @property
    def is_of_system(self) -> bool:
        """Whether the owner is the system user, whom cards do not show."""
        return self.owner == SYSTEM_USER

    @property
    def is_uncategorised(self) -> bool:
        """Whether the map has no category."""
        return self.category == UNCATEGORISED

    @property
    def says_folder(self) -> bool:
        """Whether the folder adds information to the card."""
        return bool(self.folder_below) and not self.place and self.folder != self.category

    @property
    def folder_below(self) -> str:
        """The folder relative to the listed one; empty for the listed folder itself."""
        return _below(self.within, f"{self.folder}/").removesuffix("/")


def with_places(cards: list[Card], within: str = "") -> list[Card]:
    """Return the cards of a folder, adding file paths to those that share a title.

    Args:
        cards: the cards.
        within: the folder, empty for all maps.
    """
    titles = [normalize(one.title) for one in cards]
    counts = Counter(titles)
    return [
        replace(
            one,
            place=one.place or breakable(_below(within, one.file) if alike else ""),
            within=within,
        )
        for one, alike in zip(cards, (counts[title] > 1 for title in titles), strict=True)
    ]


def _below(folder: str, path: str) -> str:
    return path.removeprefix(f"{folder}/") if folder else path


def card(
    record: Record, addresses: Addresses, snippets: list[Snippet], marked_file: str = ""
) -> Card:
    """Build the card of a map, with the topics that match the search.

    Args:
        record: the map.
        addresses: builds URLs.
        snippets: the matching topics.
        marked_file: the path of its file with highlights as HTML, if it matches the search.
    """
    found: dict[str, Any] = orjson.loads(record.body)
    details = record.details
    edited = "" if details.edited is None else format_date(details.edited)
    public_id, title = found["ID"], found["Title"]
    return Card(
        id=public_id,
        title=title,
        description=found["Description"],
        address=addresses.map(public_id, title),
        small=addresses.thumbnail(public_id, 320),
        large=addresses.thumbnail(public_id, 640),
        small_dark=addresses.thumbnail(public_id, 320, theme="dark"),
        large_dark=addresses.thumbnail(public_id, 640, theme="dark"),
        owner=found["Owner"],
        owner_address=addresses.library({"owner": found["Owner"]}),
        category=found["Category"],
        category_address=addresses.library({"category": found["CategoryID"]}),
        software=found["Software"],
        added=iso_date(found["DateAdded"]),
        date=found["DateAdded"][:10],
        views=int(found["Views"]),
        downloads=int(found["Downloads"]),
        thumbs_up=int(found["ThumbsUp"]),
        topics=[found_topic(snippet, public_id, title, addresses) for snippet in snippets],
        edited=iso_date(edited) if edited else "",
        edited_date=edited[:10],
        file=details.source,
        # ``snippets.marked_line`` escapes it, except for its highlights.
        place=breakable(Markup(marked_file)),  # noqa: S704
        folder=details.folder,
        folder_address=addresses.library({"folder": details.folder}) if details.folder else "",
        size=found["Size"],
        topic_count=details.topics,
    )


def iso_date(date: str) -> str:
    """Format a date of a record as in RFC 3339."""
    return date.replace(" ", "T") + "Z"


def found_topic(snippet: Snippet, public_id: str, title: str, addresses: Addresses) -> FoundTopic:
    """Build a matching topic of a map from its snippet."""
    return FoundTopic(
        addresses.topic(public_id, title, snippet.id),
        snippet.path,
        # ``snippets.Snippet`` escapes both, except for its highlights.
        Markup(snippet.marked),  # noqa: S704
        Markup(snippet.note),  # noqa: S704
    )
