"""OAuth programs and grants: limits, retention times and SQL that both databases share."""

from dataclasses import fields
from typing import Final

from mapshelf.errors import Conflict
from mapshelf.model import (
    CLOCK_TOLERANCE,
    DYNAMIC_ID,
    HOUR,
    AuthorizationCode,
    DeviceRequest,
    Grant,
    NewTokens,
    Program,
    User,
)
from mapshelf.store.sign_in import refuse_system
from mapshelf.store.tables import Row

DYNAMIC: Final = (
    f"SELECT count(*) FROM programs WHERE substr(id, 1, {len(DYNAMIC_ID)}) = '{DYNAMIC_ID}'"
)
"""Counts the programs that registered themselves."""

UNUSED: Final = (
    "SELECT p.id FROM programs AS p WHERE (p.created < ? OR p.created > ?)"
    " AND NOT EXISTS (SELECT 1 FROM grants AS g WHERE g.program_id = p.id) ORDER BY p.id"
)
"""The ids of programs without grants that were registered before a time, or after another."""

GRANTS_OF_USER: Final = 200
"""Maximum grants per user: further ones replace the oldest."""

REFRESH_TOKENS_OF_GRANT: Final = 5000
"""Maximum unexpired refresh tokens per grant, including used ones: more than one per half hour. A
program that requests more loses its grant. Used tokens are not deleted before they expire, because
their reuse reveals a stolen token (RFC 9700, section 4.14.2)."""

ACCESS_TOKENS_OF_GRANT: Final = 100
"""Maximum access tokens per grant: further ones replace the oldest."""

USED_CODES_KEPT: Final = HOUR
"""How long used codes are kept after they expire, to detect reuse."""

FRESH: Final = "SELECT count(*) < 2 FROM refresh_tokens WHERE grant_id = {grant}"
"""Whether a used code may be used once more: its tokens have not been refreshed, and it has been
used only once."""

SUPERSEDED: Final = (
    "EXISTS (SELECT 1 FROM refresh_tokens AS n WHERE n.grant_id = r.grant_id"
    " AND n.id > r.id AND n.used <> r.used AND n.used < {now})"
)
"""Whether a newer refresh token of the same grant was used after the used token ``r``, and before
this request. Each use marks all unused tokens with its time, so another time means another use.
Which time is later says nothing, because clocks are set back. A request that arrived earlier may
have waited for the database while its program repeated it and went on."""

MOST_DEVICES: Final = 25_000
"""Maximum stored device requests: further ones replace the oldest."""

END_DEVICES: Final = "DELETE FROM device_requests WHERE user_id = ?"
"""Ends the requests that a user has allowed, when the user is disabled: whoever enables the user
again does not know that a device waits."""

PROGRAM: Final = "id, name, secret, redirect_uris, legacy, created"
CODE: Final = ", ".join(field.name for field in fields(AuthorizationCode))
DEVICE: Final = ", ".join(field.name for field in fields(DeviceRequest))
"""The columns for ``program_of_row``, ``code_of_row`` and ``device_of_row``."""

GRANT: Final = (
    "g.id, g.user_id, g.program_id, p.name, g.scopes, g.created, g.expires,"
    " (SELECT max(coalesce(t.last_used, t.created)) FROM tokens AS t WHERE t.grant_id = g.id)"
)
FROM_GRANTS: Final = "grants AS g JOIN programs AS p ON p.id = g.program_id"
"""The columns for ``grant_of_row``, and the tables they come from."""


def program_of_row(row: Row) -> Program:
    """Return the program in a row with the columns of ``PROGRAM``."""
    program_id, name, secret, redirect_uris, legacy, created = row
    digest = None if secret is None else bytes(secret)
    return Program(program_id, name, digest, tuple(redirect_uris.split()), bool(legacy), created)


def row_of_program(program: Program) -> Row:
    """Return a program as a row with the columns of ``PROGRAM``."""
    return (
        program.id,
        program.name,
        program.secret,
        " ".join(program.redirect_uris),
        program.legacy,
        program.created,
    )


def code_of_row(row: Row) -> AuthorizationCode:
    """Return the code in a row with the columns of ``CODE``."""
    return AuthorizationCode(bytes(row[0]), *row[1:])


def row_of_code(code: AuthorizationCode) -> Row:
    """Return a code as a row with the columns of ``CODE``."""
    return tuple(getattr(code, field.name) for field in fields(AuthorizationCode))


def device_of_row(row: Row) -> DeviceRequest:
    """Return the request in a row with the columns of ``DEVICE``."""
    digest, user_code, program_id, scopes, expires, user_id, denied = row
    return DeviceRequest(
        bytes(digest), user_code, program_id, scopes, expires, user_id, bool(denied)
    )


def row_of_device(request: DeviceRequest) -> Row:
    """Return a request as a row with the columns of ``DEVICE``."""
    return tuple(getattr(request, field.name) for field in fields(DeviceRequest))


def grant_of_row(row: Row) -> Grant:
    """Return the grant in a row with the columns of ``GRANT``."""
    return Grant(*row)


def scopes_of_tokens(tokens: NewTokens, granted: str) -> str:
    """Return the scopes of an access token."""
    return tokens.scopes or granted


def is_repeated(used: int, now: int, grace: int) -> bool:
    """Return whether a second use is within the grace period of a repeated request.

    If the first use was in the future, the clocks of nodes differ, and it may be long ago.
    """
    return bool(grace) and used - CLOCK_TOLERANCE <= now <= used + grace


def refuse_disabled(user: User) -> User:
    """Return the user unless disabled or ``system``.

    Raises:
        Conflict: the user is disabled, or is ``system``.
    """
    if user.disabled:
        raise Conflict(f"the user {user.name} is disabled")
    return refuse_system(user)
