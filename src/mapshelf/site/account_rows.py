"""Sessions, tokens and invitations as rows of the pages about one's account."""

from dataclasses import dataclass

from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import OneTimeLink, Token
from mapshelf.site.cards import iso_date
from mapshelf.tokens import SCOPES, scopes_of


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: for machines, and for people."""

    iso: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A session, a token or an invitation.

    Attributes:
        id: identifies it in forms.
        name: what it is called, or who made it; may be empty.
        created: when it began.
        expires: when it ends, ``None`` if it does not.
        used: when it was last used, ``None`` if it was not.
        scopes: what it allows.
        present: whether it is the session of this browser.
        expired: whether it has ended.
    """

    id: str
    name: str
    created: Moment
    expires: Moment | None
    used: Moment | None = None
    scopes: tuple[str, ...] = ()
    present: bool = False
    expired: bool = False


def row_of_token(token: Token, now: int, present: int = 0) -> Row:
    """Return a token or a session; ``present`` is the id of that of this browser."""
    allowed = scopes_of(token.scopes)
    return Row(
        id=str(token.id),
        name=token.label,
        created=moment(token.created),
        expires=None if token.expires is None else moment(token.expires),
        used=None if token.last_used is None else moment(token.last_used),
        scopes=tuple(scope for scope in SCOPES if scope in allowed),
        present=token.id == present,
        expired=token.expires is not None and token.expires <= now,
    )


def row_of_invitation(link: OneTimeLink) -> Row:
    """Return an invitation."""
    return Row(
        id=link.digest.hex(),
        name=link.created_by or "",
        created=moment(link.created),
        expires=moment(link.expires),
    )


def moment(milliseconds: int) -> Moment:
    """Return a time (milliseconds since 1970-01-01 UTC), for people to the minute."""
    date = format_date(milliseconds)
    return Moment(iso_date(date), f"{date[:16]} UTC")
