"""Accounts and credentials: users, tokens, passwords, one-time links, identities, passkeys.

All types are immutable.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """The privileges of a user."""

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
    """Kinds of access that a password change ends only on request (``ending``).

    Sessions and one-time links always end; only the session that changes the password is kept.

    ``PROGRAMS`` covers tokens, the secret feed address and authorised programs. ``WAYS`` covers the
    other ways to sign in: passkeys and accounts at an identity provider.
    """

    PROGRAMS = "programs"
    WAYS = "ways"


class TokenKind(StrEnum):
    """What presents a token: a program in a header, or a browser in a cookie.

    A user gives a personal token to a program; a program obtains an access token itself (OAuth).
    """

    PERSONAL = "personal"
    SESSION = "session"
    ACCESS = "access"


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token, without its secret.

    Times are milliseconds since 1970-01-01 UTC; ``None`` means never (``expires``) or not yet
    (``revoked``, ``last_used``). ``scopes`` is a space-separated list. The label of a session names
    its browser.
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
    """A user and the encoded password hash, ``None`` if the user has no password."""

    user: User
    encoded: str | None


@dataclass(frozen=True, slots=True)
class SignInProof:
    """How a user proved who they are, for as long as that holds; at most one attribute is set.

    Attributes:
        encoded: the encoded password hash that the password was checked against.
        passkey: the id of the passkey.
        identity: issuer and subject of the identity at an OpenID provider.
    """

    encoded: str | None = None
    passkey: bytes | None = None
    identity: tuple[str, str] | None = None


NO_PROOF: Final = SignInProof()
"""Nothing that could end: a proxy vouches for the user, for instance."""


class LinkKind(StrEnum):
    """What a one-time link allows: setting a password or registering an account."""

    PASSWORD = "password"  # noqa: S105 - a kind of link
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A stored one-time link, without the secret in its URL.

    Attributes:
        kind: what the link allows.
        digest: SHA-256 of the secret; it identifies the link.
        user: the user whose password it sets, ``None`` for an invitation.
        created: milliseconds since 1970-01-01 UTC.
        expires: milliseconds since 1970-01-01 UTC.
        created_by: name of the administrator who created it, ``None`` if a command did.
    """

    kind: LinkKind
    digest: bytes
    user: User | None
    created: int
    expires: int
    created_by: str | None


@dataclass(frozen=True, slots=True)
class Identity:
    """An account at an OpenID provider, linked to a user.

    Attributes:
        issuer: the provider.
        subject: the provider's unique, permanent identifier of the account.
        name: display name at the time of linking.
        created: milliseconds since 1970-01-01 UTC.
    """

    issuer: str
    subject: str
    name: str
    created: int


@dataclass(frozen=True, slots=True)
class Passkey:
    """A user's passkey (WebAuthn credential).

    Attributes:
        id: credential ID from the authenticator.
        public_key: public key in COSE format.
        sign_count: signature counter, 0 if the authenticator has none.
        name: name chosen by the user.
        created: milliseconds since 1970-01-01 UTC.
        last_used: milliseconds since 1970-01-01 UTC, ``None`` if never used.
    """

    id: bytes
    public_key: bytes
    sign_count: int
    name: str
    created: int
    last_used: int | None


@dataclass(frozen=True, slots=True)
class Failures:
    """The number of failed sign-ins within a day, and the time of the last, in milliseconds."""

    count: int
    last: int
