"""Programs that people let in (OAuth 2), as the store keeps them.

OAuth calls a program a client; here, a client is whoever sends a request. Everything here is an
immutable value. Times are milliseconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from typing import Final

DYNAMIC_ID: Final = "dynamic-"
"""How the ids of programs begin that have registered themselves."""


@dataclass(frozen=True, slots=True)
class Program:
    """A registered program.

    Attributes:
        id: its client id (RFC 6749, section 2.2).
        name: what people are shown.
        secret: SHA-256 of its client secret; ``None`` for a public program, which has none.
        redirect_uris: where browsers may be sent back to.
        legacy: whether it may do what programs did before RFC 9700: see ``oauth_programs.py``.
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
        """Whether it cannot keep a secret: it runs in a browser, or on its user's machine."""
        return self.secret is None

    @property
    def is_dynamic(self) -> bool:
        """Whether it has registered itself, so that nobody knows whose it is."""
        return self.id.startswith(DYNAMIC_ID)


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """An authorization code (RFC 6749, section 4.1): everything but the code itself.

    Attributes:
        digest: SHA-256 of the code.
        program_id: the program that it is for.
        user_id: who let the program in.
        scopes: what the program may do, separated by spaces.
        redirect_uri: the one in the request, empty if the request had none.
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
    """What a user allowed a program once; all tokens that follow from it go with it.

    Attributes:
        id: identifies it.
        user_id: who let the program in.
        program_id: the program.
        program: the name of the program.
        scopes: what the program may do, separated by spaces.
        created: when the user allowed it.
        expires: when the newest refresh token expires.
        last_used: when a token of it was last used, as far as it is known.
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
    """The tokens that a program is about to get, as digests.

    Attributes:
        access: SHA-256 of the access token.
        access_expires: when it expires.
        refresh: SHA-256 of the refresh token.
        refresh_expires: when it expires.
        scopes: what the access token allows; empty for all that the grant allows.
    """

    access: bytes
    access_expires: int
    refresh: bytes
    refresh_expires: int
    scopes: str = ""


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """A program on a device without a browser that waits to be let in (RFC 8628).

    Attributes:
        digest: SHA-256 of the device code.
        user_code: what the user types, without hyphens.
        program_id: the program.
        scopes: what it asks for, separated by spaces.
        expires: when it expires.
        user_id: who has let it in, ``None`` if nobody has.
        denied: whether somebody has refused it.
    """

    digest: bytes
    user_code: str
    program_id: str
    scopes: str
    expires: int
    user_id: int | None = None
    denied: bool = False
