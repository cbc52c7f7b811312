"""People as the store keeps them: users, tokens, passwords, one-time links, identities, passkeys.

Everything here is an immutable value.
"""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a user may do besides what everybody may."""

    MEMBER = "member"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True, slots=True)
class User:
    """An account. ``registered`` is in milliseconds since 1970-01-01 UTC."""

    id: int
    name: str
    registered: int
    disabled: bool
    role: Role = Role.MEMBER


class Access(StrEnum):
    """What lets somebody, or a program, in besides a password, and outlives a changed one.

    ``PROGRAMS`` are tokens, the secret address of feeds, and programs that were let in. ``WAYS``
    are other ways to sign in: passkeys, and accounts at a provider.
    """

    PROGRAMS = "programs"
    WAYS = "ways"


class TokenKind(StrEnum):
    """What presents a token: a program in a header, or a browser in a cookie.

    A person gives a personal token to a program; an access token, the program gets by itself.
    """

    PERSONAL = "personal"
    SESSION = "session"
    ACCESS = "access"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is stored: everything but the secret itself.

    Times are milliseconds since 1970-01-01 UTC; ``None`` means never (``expires``), or not yet
    (``revoked``, ``last_used``). ``scopes`` are those of ``tokens``, separated by spaces. The
    label of a session says which browser it is in.
    """

    id: int
    user: str
    label: str
    scopes: str
    created: int
    expires: int | None
    revoked: int | None
    last_used: int | None
    kind: TokenKind = TokenKind.PERSONAL


@dataclass(frozen=True, slots=True)
class Credential:
    """A stored token, valid or not, with its user."""

    token: Token
    user: User


@dataclass(frozen=True, slots=True)
class PasswordRecord:
    """A user with the encoded hash of the password, ``None`` if there is no password."""

    user: User
    encoded: str | None


class LinkKind(StrEnum):
    """What a one-time link lets its holder do: choose a password, or register an account."""

    PASSWORD = "password"  # noqa: S105 - a kind of link
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A one-time link as it is stored: everything but the secret in its address.

    Attributes:
        kind: what it is good for.
        digest: SHA-256 of the secret; it identifies the link.
        user: whose password it sets, ``None`` for an invitation.
        created: milliseconds since 1970-01-01 UTC.
        expires: milliseconds since 1970-01-01 UTC.
        created_by: name of the administrator who made it, ``None`` if a command did.
    """

    kind: LinkKind
    digest: bytes
    user: User | None
    created: int
    expires: int
    created_by: str | None


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody at an OpenID provider, who signs in here as a user.

    Attributes:
        issuer: the provider.
        subject: what the provider calls them, and nobody else ever.
        name: what it called them when they were linked, to be shown.
        created: milliseconds since 1970-01-01 UTC.
    """

    issuer: str
    subject: str
    name: str
    created: int


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey of a user (WebAuthn): what its authenticator gave us to know it again.

    Attributes:
        id: what the authenticator calls it.
        public_key: in COSE.
        sign_count: how often it has signed, 0 if the authenticator does not count.
        name: what its owner calls it.
        created: milliseconds since 1970-01-01 UTC.
        last_used: the same; ``None`` if it has not been used yet.
    """

    id: bytes
    public_key: bytes
    sign_count: int
    name: str
    created: int
    last_used: int | None


@dataclass(frozen=True, slots=True)
class Failures:
    """How often signing in failed within a day, and when it did last, in milliseconds."""

    count: int
    last: int
