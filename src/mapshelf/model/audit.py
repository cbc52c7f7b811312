"""The audit log: who did what, to which object, and from which address.

All types are immutable. The functions write the targets of actions, so that all parts of the
program name the same object alike.
"""

from dataclasses import dataclass
from enum import StrEnum


class AuditEvent(StrEnum):
    """The kinds of actions that are recorded."""

    SIGN_IN = "sign_in"
    SIGN_IN_FAILED = "sign_in.failed"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 - an event
    ACCESS_ENDED = "access.ended"
    SESSION_ENDED = "session.ended"
    PASSKEY_ADDED = "passkey.added"
    PASSKEY_REMOVED = "passkey.removed"
    IDENTITY_LINKED = "identity.linked"
    IDENTITY_UNLINKED = "identity.unlinked"
    LINK_MADE = "link.made"
    INVITATION_MADE = "invitation.made"
    INVITATION_WITHDRAWN = "invitation.withdrawn"
    TOKEN_MADE = "token.made"  # noqa: S105 - an event
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - an event
    GRANT_MADE = "grant.made"
    GRANT_WITHDRAWN = "grant.withdrawn"
    CLIENT_ADDED = "client.added"
    CLIENT_REMOVED = "client.removed"
    MAP_PUBLISHED = "map.published"
    MAP_CHANGED = "map.changed"
    MAP_REPLACED = "map.replaced"
    MAP_REMOVED = "map.removed"
    MAP_RESTORED = "map.restored"
    MAP_REPORTED = "map.reported"
    MAP_HIDDEN = "map.hidden"
    MAP_DELETED = "map.deleted"
    COLLECTION_MADE = "collection.made"
    COLLECTION_CHANGED = "collection.changed"
    COLLECTION_REMOVED = "collection.removed"
    COLLECTION_PINNED = "collection.pinned"
    COLLECTION_UNPINNED = "collection.unpinned"
    COLLECTION_REPORTED = "collection.reported"
    COLLECTION_HIDDEN = "collection.hidden"
    SEARCH_SAVED = "search.saved"
    SEARCH_CHANGED = "search.changed"
    SEARCH_REMOVED = "search.removed"
    REPORTS_DISMISSED = "reports.dismissed"
    DECISION_UNDONE = "decision.undone"
    TAG_RENAMED = "tag.renamed"
    USER_ADDED = "user.added"
    USER_REGISTERED = "user.registered"
    USER_ROLE = "user.role"
    USER_DISABLED = "user.disabled"
    USER_ENABLED = "user.enabled"
    DATA_EXPORTED = "data.exported"
    ACCOUNT_DELETED = "account.deleted"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An action to record. It contains no secrets.

    Attributes:
        event: kind of action.
        target: object of the action: ``map ID``, ``collection ID``, ``search ID``, ``user NAME``,
            ``token LABEL``, ``client ID``, or a list of what was revoked; empty for the user's own
            account, or if the store fills it in (the ID of a new map, collection or saved search).
        user_id: id of the acting user, ``None`` for a command or an unknown user.
        user: name of that user; retained when the account is deleted.
        address: IP address of the client (for IPv6, its network); empty for a command.
    """

    event: AuditEvent
    target: str = ""
    user_id: int | None = None
    user: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A stored entry of the audit log.

    Attributes:
        id: increasing integer.
        at: time of the action, in milliseconds since 1970-01-01 UTC.
        last: time of the last repetition, if the action occurred ``count`` times within an hour.
        count: number of occurrences.
        entry: the recorded action.
    """

    id: int
    at: int
    last: int
    count: int
    entry: AuditEntry


def about_user(name: str) -> str:
    """Return the target of an action on a user."""
    return f"user {name}"


def about_token(label: str) -> str:
    """Return the target of an action on a token."""
    return f"token {label}".rstrip()


def about_client(program_id: str) -> str:
    """Return the target of an action on a program (an OAuth client)."""
    return f"client {program_id}"


def about_map(public_id: str) -> str:
    """Return the target of an action on a map."""
    return f"map {public_id}"


def about_collection(public_id: str) -> str:
    """Return the target of an action on a collection."""
    return f"collection {public_id}"


def about_search(public_id: str) -> str:
    """Return the target of an action on a saved search."""
    return f"search {public_id}"
