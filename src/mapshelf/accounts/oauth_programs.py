"""Registered programs (OAuth 2 clients): their registration and authentication.

The rules are those of RFC 9700 (best current practice). A program marked as legacy predates them.
It differs in these points only:

* it requests ``maps`` to upload maps, because ``maps:write`` did not exist;
* it separates scopes in a token request with a literal plus, ``account+maps``;
* it may omit ``grant_type`` when it exchanges a code;
* it may exchange a code twice while the code is valid, because it repeats a request if its
  connection is lost. This is limited (``contract.Grants.use_code``): both requests must be equal,
  and their tokens belong to the same grant. A third exchange, or one after the program refreshed
  its tokens, revokes the grant.
"""

import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import urlsplit

from mapshelf.accounts.names import has_invisible
from mapshelf.errors import InvalidSetting, OAuthRefusal
from mapshelf.model import DYNAMIC_ID, Program
from mapshelf.store.contract import RegisteredPrograms
from mapshelf.tokens import MAPS, MAPS_WRITE, PROGRAM_SECRET_PREFIX, new_token, token_digest

LONGEST_URI: Final = 500
"""Maximum characters of a redirect URI."""

LONGEST_NAME: Final = 60
"""Maximum characters of the name of a program, which people read before they authorize it."""

_ID: Final = re.compile(r"[A-Za-z0-9._~-]{1,100}")
_SECRET: Final = re.compile(r"[A-Za-z0-9._~-]{20,200}")

_URI: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9.+-]*):(?:[a-z0-9._~!$&'()*+,;=:@/?\[\]-]|%[0-9a-f]{2})+",
    re.IGNORECASE,
)
"""An absolute URI without a fragment (RFC 3986, section 4.3)."""

_AUTHORITY: Final = re.compile("[^:]+://([^/?]*)")
_BRACKETED: Final = re.compile(r"(?:[^\[\]@]*@)?\[([0-9a-f:.]+)\](?::[0-9]*)?", re.IGNORECASE)
"""The authority of a URI, which may have brackets around an IPv6 address only (RFC 3986, 3.2.2)."""

_HOST: Final = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")
"""A host name or address, in the form that ``urlsplit`` returns."""

_LOOPBACK: Final = re.compile(
    r"(?P<host>http://(?:localhost|127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?(?P<rest>(?:[/?].*)?)"
)
"""A redirect URI of a program on the machine of its user (RFC 8252, section 7.3)."""


@dataclass(frozen=True, slots=True)
class NewProgram:
    """A program to register, by an operator or by itself.

    Attributes:
        name: the name that people see.
        redirect_uris: where browsers may be redirected to; a program on a device needs none.
        id: the client id; generated if empty.
        secret: the client secret; generated if empty.
        public: whether the program has no secret.
        legacy: see the module docstring.
        dynamic: whether the program registers itself.
    """

    name: str
    redirect_uris: tuple[str, ...] = ()
    id: str = ""
    secret: str = ""
    public: bool = False
    legacy: bool = False
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class Identification:
    """The client credentials that a program sends.

    Attributes:
        id: the client id.
        secret: the client secret, empty if none was sent.
        basic: whether they were sent by HTTP Basic authentication.
    """

    id: str
    secret: str
    basic: bool = False


def register(
    store: RegisteredPrograms, registration: NewProgram, now: int, most: int | None = None
) -> tuple[Program, str]:
    """Register a program; return it with its secret, which is empty for a public program.

    Args:
        store: stores the program.
        registration: the program.
        now: milliseconds since 1970-01-01 UTC.
        most: see ``RegisteredPrograms.add_program``.

    Raises:
        InvalidSetting: the registration breaks a rule.
        AlreadyExists: another program has this id.
        TooManyPrograms: ``most`` programs have registered themselves.
    """
    _check(registration)
    secret = ""
    if not registration.public:
        secret = registration.secret or new_token(PROGRAM_SECRET_PREFIX)
    program = Program(
        registration.id or _new_id(dynamic=registration.dynamic),
        registration.name.strip(),
        token_digest(secret) if secret else None,
        registration.redirect_uris,
        registration.legacy,
        now,
    )
    store.add_program(program, most)
    return program, secret


def find_program(store: RegisteredPrograms, program_id: str) -> Program | None:
    """Return the program with this id, ``None`` if there is none or the id is malformed."""
    return store.program(program_id) if _ID.fullmatch(program_id) else None


def identified(store: RegisteredPrograms, who: Identification) -> Program:
    """Authenticate a program (RFC 6749, section 2.3) and return it.

    Raises:
        OAuthRefusal: the program is unknown, or its secret is wrong.
    """
    program = find_program(store, who.id)
    known = (program.secret if program else None) or bytes(32)
    right = hmac.compare_digest(known, token_digest(who.secret))
    if program is None or not (right if program.secret else not who.secret):
        raise OAuthRefusal(
            "invalid_client", "The program is unknown, or its secret is wrong.", basic=who.basic
        )
    return program


def may_redirect_to(program: Program, uri: str) -> bool:
    """Return whether a browser may be redirected to ``uri``.

    It must equal a registered URI. Only the port of a loopback URI may differ, because programs
    listen on any free port (RFC 8252, section 7.3).
    """
    return len(uri) <= LONGEST_URI and any(
        uri == one or (_without_port(uri) == _without_port(one) != "")
        for one in program.redirect_uris
    )


def meant_scopes(program: Program, scopes: Collection[str]) -> frozenset[str]:
    """Return the requested scopes, with ``maps:write`` if a legacy program requests ``maps``."""
    widened = program.legacy and MAPS in scopes
    return frozenset((*scopes, MAPS_WRITE) if widened else scopes)


def is_loopback(uri: str) -> bool:
    """Return whether a redirect URI is a loopback URI."""
    return _without_port(uri) != ""


def _without_port(uri: str) -> str:
    found = _LOOPBACK.fullmatch(uri)
    return found["host"] + found["rest"] if found else ""


def _new_id(*, dynamic: bool) -> str:
    return (DYNAMIC_ID if dynamic else "") + secrets.token_hex(16)


def _check(registration: NewProgram) -> None:
    name = registration.name
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InvalidSetting(
            f"a name must be one printable line of at most {LONGEST_NAME} characters"
        )
    if has_invisible(name):
        raise InvalidSetting("a name must not contain invisible characters")
    if registration.id and not _ID.fullmatch(registration.id):
        raise InvalidSetting("an id must be 1 to 100 letters, digits and any of -._~")
    if registration.id.startswith(DYNAMIC_ID):
        raise InvalidSetting(
            f"{DYNAMIC_ID} is reserved for the ids of programs that register themselves"
        )
    if registration.secret and not _SECRET.fullmatch(registration.secret):
        raise InvalidSetting("a secret must be 20 to 200 letters, digits and any of -._~")
    if registration.public and registration.secret:
        raise InvalidSetting("a public program cannot have a secret")
    if registration.public and registration.legacy:
        raise InvalidSetting("a public program needs PKCE, which a legacy program does not have")
    for uri in registration.redirect_uris:
        check_redirect_uri(uri)


def check_redirect_uri(uri: str) -> None:
    """Reject a redirect URI through which others could get codes (RFC 9700, section 2.6).

    Raises:
        InvalidSetting: the URI is unsafe.
    """
    found = _URI.fullmatch(uri)
    if not found or len(uri) > LONGEST_URI:
        raise InvalidSetting(f"a redirect URI must be absolute, without a fragment: {uri!r}")
    if _has_stray_brackets(uri):
        raise InvalidSetting(
            f"brackets in the host of a redirect URI must enclose an IPv6 address: {uri!r}"
        )
    scheme = found["scheme"].lower()
    if scheme in ("http", "https"):
        try:
            parts = urlsplit(uri)
            valid = _HOST.fullmatch(parts.hostname or "") and "@" not in parts.netloc
            valid = valid and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            raise InvalidSetting(f"a redirect URI must have a host and no user: {uri!r}")
        if scheme == "http" and not is_loopback(uri):
            raise InvalidSetting(
                f"a redirect URI with http must be on this machine (http://localhost/): {uri!r}"
            )
    elif "." not in scheme:
        raise InvalidSetting(
            f"a custom scheme must begin with a reversed domain name, like com.example.app: {uri!r}"
        )


def _has_stray_brackets(uri: str) -> bool:
    """Return whether the host of a URI has brackets that browsers and parsers refuse."""
    found = _AUTHORITY.match(uri)
    authority = found[1] if found else ""
    if not {"[", "]"} & set(authority):
        return False
    address = _BRACKETED.fullmatch(authority)
    if address is None:
        return True
    try:
        IPv6Address(address[1])
    except ValueError:
        return True
    return False
