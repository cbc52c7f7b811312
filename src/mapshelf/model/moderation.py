"""Moderation: reports from users, and the decisions of administrators.

All types are immutable.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mapshelf.model.catalogue import Map
from mapshelf.model.map_collections import Collection

NOTE_LENGTH: Final = 1000
"""Maximum length of the note of a report, in characters."""


class Reason(StrEnum):
    """The reasons for a report."""

    SPAM = "spam"
    COPYRIGHT = "copyright"
    PRIVACY = "privacy"
    OFFENSIVE = "offensive"
    ILLEGAL = "illegal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Report:
    """A user's report about a map.

    Attributes:
        reason: reason for the report.
        note: additional remarks, may be empty.
        created: creation time, in milliseconds since 1970-01-01 UTC.
        reporter: name of the user, ``None`` if the account has been deleted.
    """

    reason: Reason
    note: str
    created: int
    reporter: str | None


@dataclass(frozen=True, slots=True)
class ReportedMap:
    """A map with open reports, oldest first.

    Attributes:
        map: the map.
        hidden: whether administrators have hidden it.
        owner_can_be_disabled: whether its owner is a user who is not yet disabled.
        reports: its oldest open reports.
        count: number of open reports.
    """

    map: Map
    hidden: bool
    owner_can_be_disabled: bool
    reports: tuple[Report, ...]
    count: int


class DecisionKind(StrEnum):
    """The decisions that administrators can make about a reported map.

    Only its owner and administrators can see a hidden map.
    """

    HIDE = "hide"
    DELETE = "delete"
    DISABLE = "disable"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class Decision:
    """An administrator's decision about a map. It can be undone.

    Attributes:
        id: identifies it.
        kind: what was done.
        map: the map.
        user: name of the user who was disabled, ``None`` if none was, or if that user
            has been disabled or enabled by name since.
        decided: time of the decision, in milliseconds since 1970-01-01 UTC.
        decided_by: name of the administrator.
        reports: number of reports it closed.
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
    """A collection with open reports; see ``ReportedMap``."""

    collection: Collection
    hidden: bool
    reports: tuple[Report, ...]
    count: int


@dataclass(frozen=True, slots=True)
class CollectionDecision:
    """An administrator's decision about a collection. It can be undone; see ``Decision``.

    Collections are hidden, or their reports are dismissed.
    """

    id: str
    kind: DecisionKind
    collection: Collection
    decided: int
    decided_by: str
    reports: int


class MapsOfClosedAccount(StrEnum):
    """What happens to a user's uploaded maps when the account is deleted."""

    REMOVE = "remove"
    PASS_ON = "pass_on"  # noqa: S105 - no password
