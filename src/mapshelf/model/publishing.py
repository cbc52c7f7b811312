"""What people do with maps: upload them, say something about them, vote for them, remove them.

Everything here is an immutable value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from mapshelf.model.catalogue import DAY, Map, MapLink, Visibility

MOST_TAGS: Final = 20
"""Tags of a map at most."""

TAG_LENGTH: Final = 50
"""Characters of a tag at most."""

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
"""What people can set of a map (``Map.set_by_people``), and the fields of ``Map`` that it means."""


@dataclass(frozen=True, slots=True)
class MapDetails:
    """What somebody says about a map; ``None`` means that nothing is said.

    The fields are those of ``Map``. ``category_id`` is the id of a known category. ``no_licence``
    says that the map has no licence type, since ``None`` says nothing.
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
    """A map file that somebody uploads, and what a reader found in it.

    Attributes:
        name: its name without folders.
        digest: SHA-256 of its content.
        size: bytes of its content.
        content: its content, zlib-compressed.
        outline: see ``MapDraft``.
        images: see ``MapDraft``.
        links: see ``MapDraft``.
        software: name of the program that made it, empty if unknown.
        tags: those in it, for a map for which nobody says others.
    """

    name: str
    digest: bytes
    size: int
    content: bytes
    outline: bytes
    images: Mapping[str, bytes] = field(default_factory=dict)
    links: Sequence[MapLink] = ()
    software: str = ""
    tags: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        """How many bytes it takes in the quota of its author: its content and its pictures."""
        return self.size + sum(map(len, self.images.values()))


@dataclass(frozen=True, slots=True)
class Version:
    """A file that an uploaded map has, or had.

    Attributes:
        number: counts the files of the map from 1 on.
        name: see ``UploadedFile``.
        digest: see ``UploadedFile``.
        size: see ``UploadedFile``.
        created: when it was uploaded, in milliseconds since 1970-01-01 UTC.
        created_by: name of the user who did.
        current: whether it is the file of the map now.
    """

    number: int
    name: str
    digest: bytes
    size: int
    created: int
    created_by: str
    current: bool


class Vote(Enum):
    """What somebody thinks of a map; the value is what it adds to the votes."""

    UP = 1
    DOWN = -1
    NONE = 0


class Votes(NamedTuple):
    """How many people voted for a map, and against it."""

    up: int = 0
    down: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a user has uploaded.

    Attributes:
        maps: uploaded maps that are there.
        size: bytes of the files of all their versions, and of the pictures in their present files.
        recent: files uploaded within the last hour, of removed maps, too.
        first: when the first of these was uploaded (milliseconds since 1970-01-01 UTC), ``None`` if
            there are none.
        removed: the same bytes of removed maps, which are kept for a time.
        removed_maps: how many these are.
    """

    maps: int
    size: int
    recent: int
    first: int | None
    removed: int = 0
    removed_maps: int = 0


@dataclass(frozen=True, slots=True)
class RemovedMap:
    """A map that somebody removed, which can be undone.

    Attributes:
        map: the map.
        removed: when, in milliseconds since 1970-01-01 UTC.
        removed_by: name of the user who did.
    """

    map: Map
    removed: int
    removed_by: str


def parse_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a text, which commas separate.

    Blanks around a tag do not count. Of tags that differ only in case, the first is taken.

    Raises:
        ValueError: there are too many, or one is too long or not printable; the message says what
            they must be.
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
