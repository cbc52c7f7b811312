"""OAuth 2 dynamic client registration (RFC 7591), if the operator enables it.

Anybody can register a program, so their total number, and the number from one address in a day, are
limited. The consent page warns that nobody has verified the name of such a program.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from mapshelf.accounts.attempt_limits import AttemptLimit, attempt_key
from mapshelf.accounts.oauth_programs import NewProgram, check_redirect_uri, register
from mapshelf.accounts.oauth_tokens import GRANT_TYPES
from mapshelf.errors import (
    InvalidSetting,
    NotFound,
    OAuthRefusal,
    TooManyAttempts,
    TooManyPrograms,
)
from mapshelf.model import DAY, HOUR, SECOND, Program
from mapshelf.store import Store

MOST_PROGRAMS: Final = 1000
"""Maximum programs that registered themselves. At the limit, those that no user authorized within a
day are removed."""

PROGRAMS_OF_ADDRESS: Final = 20
"""Maximum registrations from one address in a day."""

MOST_URIS: Final = 10
"""Maximum redirect URIs of one program."""

NAME: Final = "Program without a name"

AUTHENTICATION_METHODS: Final = ("client_secret_basic", "client_secret_post", "none")
"""Supported client authentication methods; the first is the default (RFC 7591, section 2)."""

TOO_MANY: Final = "Too many programs have registered; try again later."


@dataclass(frozen=True, slots=True)
class Registered:
    """A program that registered itself, and its secret (empty for a public program)."""

    program: Program
    secret: str
    method: str

    def answer(self) -> dict[str, Any]:
        """Return the registration response (RFC 7591, section 3.2.1)."""
        secret = {"client_secret": self.secret, "client_secret_expires_at": 0}
        return {
            "client_id": self.program.id,
            "client_id_issued_at": self.program.created // 1000,
            **(secret if self.secret else {}),
            "client_name": self.program.name,
            "redirect_uris": list(self.program.redirect_uris),
            "token_endpoint_auth_method": self.method,
            "grant_types": list(GRANT_TYPES),
            "response_types": ["code"],
        }


def register_itself(
    store: Store, metadata: Mapping[str, Any], address: str, now: int
) -> Registered:
    """Register a program from the metadata that it sent.

    Args:
        store: stores the program.
        metadata: a JSON object (RFC 7591, section 2); unknown members are ignored.
        address: the address of the client.
        now: milliseconds since 1970-01-01 UTC.

    Raises:
        OAuthRefusal: the metadata is invalid.
        TooManyAttempts: a limit on registrations is reached.
        StoreUnavailable: the store cannot be reached.
    """
    method = metadata.get("token_endpoint_auth_method", AUTHENTICATION_METHODS[0])
    if method not in AUTHENTICATION_METHODS:
        methods = ", ".join(AUTHENTICATION_METHODS)
        raise _invalid(f"The token_endpoint_auth_method must be one of {methods}.")
    _check_choice(metadata, "grant_types", tuple(GRANT_TYPES))
    _check_choice(metadata, "response_types", ("code",))
    registration = NewProgram(
        _name(metadata), _redirect_uris(metadata), public=method == "none", dynamic=True
    )
    _make_room(store, address, now)
    try:
        program, secret = register(store, registration, now, MOST_PROGRAMS)
    except TooManyPrograms as error:  # others have registered at the same moment
        raise _too_many() from error
    except InvalidSetting as error:
        raise _invalid(str(error)) from error
    return Registered(program, secret, method)


def _name(metadata: Mapping[str, Any]) -> str:
    name = metadata.get("client_name", NAME)
    if not isinstance(name, str):
        raise _invalid("The client_name must be a text.")
    return name


def _redirect_uris(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    uris = metadata.get("redirect_uris", [])
    if not isinstance(uris, list) or len(uris) > MOST_URIS:
        raise OAuthRefusal(
            "invalid_redirect_uri", f"There can be at most {MOST_URIS} redirect_uris."
        )
    for uri in uris:
        try:
            check_redirect_uri(uri if isinstance(uri, str) else "")
        except InvalidSetting as error:
            raise OAuthRefusal("invalid_redirect_uri", str(error)) from error
    if not uris and "authorization_code" in metadata.get("grant_types", ["authorization_code"]):
        raise OAuthRefusal("invalid_redirect_uri", "The redirect_uris are missing.")
    return tuple(uris)


def _check_choice(metadata: Mapping[str, Any], name: str, known: tuple[str, ...]) -> None:
    chosen = metadata.get(name, list(known))
    if not isinstance(chosen, list) or any(one not in known for one in chosen):
        raise _invalid(f"The {name} must be among {', '.join(known)}.")


def _make_room(store: Store, address: str, now: int) -> None:
    limit = AttemptLimit(attempt_key("programs of", address), PROGRAMS_OF_ADDRESS, _too_many())
    limit.count(store, now)
    known = {program.id for program in store.programs() if program.is_dynamic}
    if len(known) < MOST_PROGRAMS:
        return
    unused = known.intersection(store.unused_programs(now - DAY))
    for program_id in unused:
        with suppress(NotFound):  # another worker has removed it
            store.remove_program(program_id)
    if len(known) - len(unused) >= MOST_PROGRAMS:
        raise _too_many()


def _too_many() -> TooManyAttempts:
    return TooManyAttempts(HOUR // SECOND, TOO_MANY)


def _invalid(message: str) -> OAuthRefusal:
    return OAuthRefusal("invalid_client_metadata", message)
