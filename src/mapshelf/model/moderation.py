"""Moderation: what people report of maps, and what administrators decide about that.

Everything here is an immutable value.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mapshelf.model.catalogue import Map
from mapshelf.model.map_collections import Collection

NOTE_LENGTH: Final = 1000
"""Characters of the note of a report at most."""


class Reason(StrEnum):
    """Why somebody reports a map."""

    SPAM = "spam"
    COPYRIGHT = "copyright"
    PRIVACY = "privacy"
    OFFENSIVE = "offensive"
    ILLEGAL = "illegal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Report:
    """What somebody says is wrong with a map.

    Attributes:
        reason: why it is reported.
        note: what they say besides; may be empty.
        created: when, in milliseconds since 1970-01-01 UTC.
        reporter: name of the user, ``None`` if the account has been deleted.
    """

    reason: Reason
    note: str
    created: int
    reporter: str | None


@dataclass(frozen=True, slots=True)
class ReportedMap:
    """A map with reports about which nothing is decided yet, oldest first.

    Attributes:
        map: the map.
        hidden: whether administrators have hidden it.
        owner_can_be_disabled: whether its owner is somebody who is not disabled.
        reports: the oldest of its reports.
        count: how many there are.
    """

    map: Map
    hidden: bool
    owner_can_be_disabled: bool
    reports: tuple[Report, ...]
    count: int


class DecisionKind(StrEnum):
    """What administrators do about a map that was reported.

    Nobody but its owner and administrators see a hidden map.
    """

    HIDE = "hide"
    DELETE = "delete"
    DISABLE = "disable"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class Decision:
    """What an administrator decided about a map, which can be undone.

    Attributes:
        id: identifies it.
        kind: what was done.
        map: the map.
        user: name of the user who was disabled, ``None`` if none was.
        decided: when, in milliseconds since 1970-01-01 UTC.
        decided_by: name of the administrator.
        reports: how many reports it closed.
    """

    id: int
    kind: DecisionKind
    map: Map
    user: str | None
    decided: int
    decided_by: str
    reports: int


@dataclass(frozen=True, slots=True)
class ReportedCollection:
    """A collection with reports about which nothing is decided yet; see ``ReportedMap``."""

    collection: Collection
    hidden: bool
    reports: tuple[Report, ...]
    count: int


@dataclass(frozen=True, slots=True)
class CollectionDecision:
    """What an administrator decided about a collection, which can be undone; see ``Decision``.

    Collections are hidden, or their reports are dismissed.
    """

    id: str
    kind: DecisionKind
    collection: Collection
    decided: int
    decided_by: str
    reports: int


class MapsOfClosedAccount(StrEnum):
    """What becomes of the uploaded maps of somebody who deletes the account."""

    REMOVE = "remove"
    PASS_ON = "pass_on"  # noqa: S105 - no password
