"""OAuth 2 types: registered programs, authorization codes, grants and device requests.

OAuth's "client" is called a program here, because "client" means the sender of a request. All types
are immutable. Times are milliseconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from typing import Final

DYNAMIC_ID: Final = "dynamic-"
"""Prefix of the ids of dynamically registered programs."""


@dataclass(frozen=True, slots=True)
class Program:
    """A registered program.

    Attributes:
        id: its client id (RFC 6749, section 2.2).
        name: display name.
        secret: SHA-256 of its client secret; ``None`` for a public program, which has none.
        redirect_uris: allowed redirect URIs.
        legacy: whether it may use the flows that RFC 9700 deprecates: see ``oauth_programs.py``.
        created: when it was registered.
    """

    id: str
    name: str
    secret: bytes | None
    redirect_uris: tuple[str, ...]
    legacy: bool
    created: int

    @property
    def is_public(self) -> bool:
        """Whether it is a public client, which cannot keep a secret because users run it."""
        return self.secret is None

    @property
    def is_dynamic(self) -> bool:
        """Whether it registered itself, which means that its owner is unknown."""
        return self.id.startswith(DYNAMIC_ID)


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """A stored authorization code (RFC 6749, section 4.1), without the code itself.

    Attributes:
        digest: SHA-256 of the code.
        program_id: the program it was issued to.
        user_id: the user who authorised the program.
        scopes: granted scopes, separated by spaces.
        redirect_uri: the redirect URI of the request, empty if it had none.
        challenge: the PKCE challenge (RFC 7636, method S256), empty if there was none.
        expires: when it expires.
    """

    digest: bytes
    program_id: str
    user_id: int
    scopes: str
    redirect_uri: str
    challenge: str
    expires: int


@dataclass(frozen=True, slots=True)
class Grant:
    """A user's authorization of a program; revoking it revokes all tokens derived from it.

    Attributes:
        id: identifies it.
        user_id: the user who authorised the program.
        program_id: the program.
        program: name of the program.
        scopes: granted scopes, separated by spaces.
        created: when the user authorised it.
        expires: when the newest refresh token expires.
        last_used: last known use of one of its tokens.
    """

    id: int
    user_id: int
    program_id: str
    program: str
    scopes: str
    created: int
    expires: int
    last_used: int | None


@dataclass(frozen=True, slots=True)
class NewTokens:
    """The digests of tokens to issue to a program.

    Attributes:
        access: SHA-256 of the access token.
        access_expires: when it expires.
        refresh: SHA-256 of the refresh token.
        refresh_expires: when it expires.
        scopes: scopes of the access token; empty for all scopes of the grant.
    """

    access: bytes
    access_expires: int
    refresh: bytes
    refresh_expires: int
    scopes: str = ""


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """A pending device authorization request (RFC 8628).

    Attributes:
        digest: SHA-256 of the device code.
        user_code: the code the user types, without hyphens.
        program_id: the program.
        scopes: requested scopes, separated by spaces.
        expires: when it expires.
        user_id: the user who approved it, ``None`` if pending.
        denied: whether a user denied it.
    """

    digest: bytes
    user_code: str
    program_id: str
    scopes: str
    expires: int
    user_id: int | None = None
    denied: bool = False
