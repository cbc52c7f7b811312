"""Convert sessions, tokens and invitations to rows of the account pages."""

from dataclasses import dataclass

from mapshelf.formats.ndjson_records import format_date
from mapshelf.model import OneTimeLink, Token
from mapshelf.site.cards import iso_date
from mapshelf.tokens import SCOPES, scopes_of


@dataclass(frozen=True, slots=True)
class Moment:
    """A time in machine-readable and in display form."""

    iso: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A session, a token or an invitation.

    Attributes:
        id: identifies it in forms.
        name: its label, or its creator; may be empty.
        created: creation time.
        expires: expiry time, ``None`` if it does not expire.
        used: time of last use, ``None`` if never used.
        scopes: its scopes.
        present: whether it is the current session.
        expired: whether it has expired.
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
    """Return the row of a token or session; ``present`` is the id of the current session."""
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
    """Return the row of an invitation."""
    return Row(
        id=link.digest.hex(),
        name=link.created_by or "",
        created=moment(link.created),
        expires=moment(link.expires),
    )


def moment(milliseconds: int) -> Moment:
    """Format a time (milliseconds since 1970-01-01 UTC), to the minute for display."""
    date = format_date(milliseconds)
    return Moment(iso_date(date), f"{date[:16]} UTC")
