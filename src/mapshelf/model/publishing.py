"""Publishing types: uploads and their versions, map details, votes, quotas and removed maps.

All types are immutable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from mapshelf.model.catalogue import Map, MapLink, Visibility
from mapshelf.model.time_units import DAY

MOST_TAGS: Final = 20
"""Maximum number of tags per map."""

TAG_LENGTH: Final = 50
"""Maximum length of a tag, in characters."""

UNDOABLE: Final = 30 * DAY
"""Milliseconds for which a removal can be undone."""

SETTABLE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "title": ("title",),
        "description": ("description",),
        "category": ("category_id", "category"),
        "licence": ("copyright", "licence_type_id"),
        "tags": ("tags",),
        "template": ("template",),
        "visibility": ("visibility",),
    }
)
"""The properties of a map that users can set (``Map.set_by_people``), with their ``Map`` fields."""


@dataclass(frozen=True, slots=True)
class MapDetails:
    """The details that a user sets on a map; ``None`` leaves a field unset.

    The fields are those of ``Map``. ``category_id`` is the id of a known category. ``no_licence``
    removes the licence type, which ``None`` cannot express.
    """

    title: str | None = None
    description: str | None = None
    category_id: int | None = None
    copyright: str | None = None
    licence_type_id: int | None = None
    tags: tuple[str, ...] | None = None
    template: bool | None = None
    visibility: Visibility | None = None
    no_licence: bool | None = None


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """An uploaded map file and its parsed content.

    Attributes:
        name: its name without folders.
        digest: SHA-256 of its content.
        size: bytes of its content.
        content: its content, zlib-compressed.
        outline: see ``MapDraft``.
        images: see ``MapDraft``.
        links: see ``MapDraft``.
        software: name of the program that created it, empty if unknown.
        title: the title in the file, see ``readers.sandboxed_reader.ReadFile``. This and the
            following are used unless the user sets others.
        description: likewise.
        template: likewise.
        tags: likewise.
    """

    name: str
    digest: bytes
    size: int
    content: bytes
    outline: bytes
    images: Mapping[str, bytes] = field(default_factory=dict)
    links: Sequence[MapLink] = ()
    software: str = ""
    title: str | None = None
    description: str | None = None
    template: bool | None = None
    tags: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        """Bytes it counts towards the uploader's quota: content and images."""
        return self.size + sum(map(len, self.images.values()))


@dataclass(frozen=True, slots=True)
class Version:
    """A current or former file of an uploaded map.

    Attributes:
        number: version number, from 1.
        name: see ``UploadedFile``.
        digest: see ``UploadedFile``.
        size: see ``UploadedFile``.
        created: when it was uploaded, in milliseconds since 1970-01-01 UTC.
        created_by: name of the user who uploaded it.
        current: whether it is the current file of the map.
    """

    number: int
    name: str
    digest: bytes
    size: int
    created: int
    created_by: str
    current: bool


class Vote(Enum):
    """A vote on a map; the value is what it adds to the score."""

    UP = 1
    DOWN = -1
    NONE = 0


class Votes(NamedTuple):
    """The numbers of votes for and against a map."""

    up: int = 0
    down: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """A user's quota usage.

    Attributes:
        maps: number of uploaded maps, without removed ones.
        size: bytes of the files of all their versions and the images of their current files.
        recent: files uploaded within the last hour, including those of removed maps.
        first: when the first of these was uploaded (milliseconds since 1970-01-01 UTC), ``None`` if
            there are none.
        removed: bytes of removed maps, which are stored for a limited time.
        removed_maps: number of removed maps.
    """

    maps: int
    size: int
    recent: int
    first: int | None
    removed: int = 0
    removed_maps: int = 0


@dataclass(frozen=True, slots=True)
class RemovedMap:
    """A removed map that can be restored.

    Attributes:
        map: the map.
        removed: time of removal, in milliseconds since 1970-01-01 UTC.
        removed_by: name of the user who removed it.
    """

    map: Map
    removed: int
    removed_by: str


def parse_tags(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of tags.

    White space around tags is ignored. Of tags that differ only in case, the first wins.

    Raises:
        ValueError: there are too many tags, or one is too long or not printable; the message states
            the rule.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        tag = " ".join(part.split())
        if tag:
            found.setdefault(tag.casefold(), tag)
    tags = tuple(found.values())
    good = all(len(tag) <= TAG_LENGTH and tag.isprintable() for tag in tags)
    if not good or len(tags) > MOST_TAGS:
        raise ValueError(
            f"up to {MOST_TAGS} tags with commas between them, each printable and of up to"
            f" {TAG_LENGTH} characters"
        )
    return tags


def format_tags(tags: Sequence[str]) -> str:
    """Return tags as the text that ``parse_tags`` reads."""
    return ", ".join(tags)
