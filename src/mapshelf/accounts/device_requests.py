"""The OAuth 2 device flow (RFC 8628): authorizes programs on devices without a browser.

The program shows a short code, which its user enters on one of our pages on another device. Short
codes can be guessed. So they expire within minutes, and only signed-in users may try, a few times.
"""

import secrets
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final

from mapshelf.accounts.attempt_limits import AttemptLimit, attempt_key
from mapshelf.accounts.audit import done_by
from mapshelf.accounts.authorization import read_scopes
from mapshelf.accounts.issued_tokens import IssuedTokens, new_tokens
from mapshelf.errors import AlreadyExists, NotFound, OAuthRefusal, TooManyAttempts
from mapshelf.model import AuditEvent, DeviceRequest, Program, User, about_client, has_come
from mapshelf.store.contract import Programs, Store
from mapshelf.tokens import DEVICE_PREFIX, new_token, token_digest

LIFETIME: Final = 600
INTERVAL: Final = 5
"""Lifetime of a request, and the interval between two polls of a program, in seconds."""

ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
LENGTH: Final = 8
"""User codes are 34 random bits as consonants, so that they spell no word (RFC 8628, 6.1)."""

DEVICES_OF_ADDRESS: Final = 250
"""Maximum requests from one address in a day. Without it, one address could displace all others;
with it, that takes a hundred addresses (``MOST_DEVICES``)."""

WRONG_CODES: Final = 30
"""Maximum wrong user codes that a user may enter in a day."""

WAIT: Final = 900
"""The ``retry_after`` at either of these limits, in seconds."""


@dataclass(frozen=True, slots=True)
class NewDeviceRequest:
    """A new request: the device code to poll with, and the user code to show."""

    device_code: str
    user_code: str


def begin(store: Store, program: Program, scope: str, now: int, address: str) -> NewDeviceRequest:
    """Start a request of a program; ``address`` is the address of the client.

    Raises:
        OAuthRefusal: the program requests scopes that do not exist.
        NotFound: the program has just been removed.
        TooManyAttempts: too many requests came from this address.
    """
    scopes = " ".join(read_scopes(scope))
    too_many = TooManyAttempts(WAIT, "Too many devices have asked from this address.")
    limit = AttemptLimit(attempt_key("devices of", address), DEVICES_OF_ADDRESS, too_many)
    limit.count(store, now)
    while True:
        code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        device_code = new_token(DEVICE_PREFIX)
        request = DeviceRequest(
            token_digest(device_code), code, program.id, scopes, now + 1000 * LIFETIME
        )
        try:
            store.add_device_request(request, now)
        except AlreadyExists:  # once in a million requests, with as many devices as there can be
            continue
        return NewDeviceRequest(device_code, shown(code))


def shown(user_code: str) -> str:
    """Return a user code in the form shown to people."""
    return f"{user_code[:4]}-{user_code[4:]}"


def find(store: Store, typed: str, user: User, now: int) -> tuple[DeviceRequest, Program]:
    """Return the pending request with the user code that ``user`` entered, and its program.

    Raises:
        NotFound: no pending request has this code.
        TooManyAttempts: the user entered too many wrong codes.
    """
    key = attempt_key("device codes of", str(user.id))
    limit = AttemptLimit(key, WRONG_CODES, TooManyAttempts(WAIT))
    limit.check(store, now)
    request = store.device_request(_read_user_code(typed), now)
    program = store.program(request.program_id) if request else None
    if request is None or program is None or not _has_begun(request, now):
        limit.note(store, now)
        raise NotFound("no device is waiting with this code")
    return request, program


def decide(  # noqa: PLR0913 - who decides what, when and from where
    store: Store, typed: str, user: User, now: int, *, allow: bool, address: str
) -> None:
    """Approve or deny the request with a user code; ``address`` is the address of the client.

    Raises:
        NotFound: no pending request has this code.
        TooManyAttempts: the user entered too many wrong codes.
        Conflict: the user has just been disabled.
    """
    request, program = find(store, typed, user, now)
    target = about_client(program.id)
    made = done_by(user, address, AuditEvent.GRANT_MADE, target)
    with store.auditing(made) if allow else nullcontext():
        store.decide_device_request(request.user_code, user.id, now, allow=allow)


def device_tokens(store: Programs, program: Program, device_code: str, now: int) -> IssuedTokens:
    """Answer a poll of a program (RFC 8628, section 3.4).

    Raises:
        OAuthRefusal: the program gets no tokens, or not yet.
    """
    digest = token_digest(device_code)
    polled = store.poll_device_request(digest, now, 1000 * INTERVAL)
    if polled is None or polled[0].program_id != program.id:
        raise OAuthRefusal("invalid_grant", "The device_code is not valid.")
    request, soon = polled
    if request.expires <= now or not _has_begun(request, now):
        raise OAuthRefusal("expired_token", "The user did not type the code in time.")
    if request.denied:
        raise OAuthRefusal("access_denied", "The user did not allow it.")
    if soon:
        raise OAuthRefusal("slow_down", f"Wait {INTERVAL} seconds between two requests.")
    if request.user_id is None:
        raise OAuthRefusal("authorization_pending", "The user has not decided yet.")
    issued = new_tokens(now)
    grant = store.use_device_request(digest, issued.digests(), now)
    if grant is None:
        raise OAuthRefusal("invalid_grant", "The device_code is not valid.")
    return replace(issued, scopes=grant.scopes)


def _has_begun(request: DeviceRequest, now: int) -> bool:
    return has_come(request.expires - 1000 * LIFETIME, now)


def _read_user_code(typed: str) -> str:
    """Return a user code without hyphens and spaces."""
    return "".join(letter for letter in typed[:100].upper() if letter in ALPHABET)
