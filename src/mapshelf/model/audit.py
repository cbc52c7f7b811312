"""What is noted of what people do: who did what to what, and from where.

Everything here is an immutable value.
"""

from dataclasses import dataclass
from enum import StrEnum


class AuditEvent(StrEnum):
    """What was done."""

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
    """What somebody does. No secret is in it.

    Attributes:
        event: what is done.
        target: to what: ``map ID``, ``collection ID``, ``search ID``, ``user NAME``,
            ``token LABEL``, ``client ID``, or a list of what has ended; empty if it is one's own
            account, or if the store is to say it (the ID of a new map, collection or saved search).
        user_id: id of the user who does it, ``None`` for a command or for nobody we know.
        user: name of that user, which stays when the account is deleted.
        address: of the client as we know it, for IPv6 its network; empty for a command.
    """

    event: AuditEvent
    target: str = ""
    user_id: int | None = None
    user: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """What was done, as the store has noted it.

    Attributes:
        id: increases from one to the next.
        at: when, in milliseconds since 1970-01-01 UTC.
        last: when it was done last, if it was done ``count`` times within an hour.
        count: how often.
        entry: what.
    """

    id: int
    at: int
    last: int
    count: int
    entry: AuditEntry
