"""What both databases keep of programs, and for how long."""

from dataclasses import fields
from typing import Final

from mapshelf.errors import Conflict
from mapshelf.model import (
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

UNUSED: Final = (
    "SELECT p.id FROM programs AS p WHERE p.created < {before}"
    " AND NOT EXISTS (SELECT 1 FROM grants AS g WHERE g.program_id = p.id) ORDER BY p.id"
)
"""The ids of programs that nobody lets in."""

GRANTS_OF_USER: Final = 200
"""Grants kept for each user: who lets programs in more often loses the oldest."""

REFRESH_TOKENS_OF_GRANT: Final = 5000
"""Refresh tokens of a grant, used ones included, until they expire: more than one in half an hour.
A program that asks for more is let in no longer. None is forgotten sooner, because the second use
of each shows that somebody else has it (RFC 9700, section 4.14.2)."""

ACCESS_TOKENS_OF_GRANT: Final = 100
"""Access tokens kept for each grant."""

USED_CODES_KEPT: Final = HOUR
"""How long used codes are kept after they expire: so a second use is noticed."""

FRESH: Final = "SELECT count(*) < 2 FROM refresh_tokens WHERE grant_id = {grant}"
"""Tells whether a code that was used may be used again: what it gave has not been refreshed, and it
has not been used again."""

MOST_DEVICES: Final = 10_000
"""Requests of devices kept."""

PROGRAM: Final = "id, name, secret, redirect_uris, legacy, created"
CODE: Final = ", ".join(field.name for field in fields(AuthorizationCode))
DEVICE: Final = ", ".join(field.name for field in fields(DeviceRequest))
"""What ``program_of_row``, ``code_of_row`` and ``device_of_row`` need."""

GRANT: Final = (
    "g.id, g.user_id, g.program_id, p.name, g.scopes, g.created, g.expires,"
    " (SELECT max(coalesce(t.last_used, t.created)) FROM tokens AS t WHERE t.grant_id = g.id)"
)
FROM_GRANTS: Final = "grants AS g JOIN programs AS p ON p.id = g.program_id"
"""What ``grant_of_row`` needs, and the tables that it is selected from."""


def program_of_row(row: Row) -> Program:
    """Return the program that ``PROGRAM`` gives."""
    program_id, name, secret, redirect_uris, legacy, created = row
    digest = None if secret is None else bytes(secret)
    return Program(program_id, name, digest, tuple(redirect_uris.split()), bool(legacy), created)


def row_of_program(program: Program) -> Row:
    """Return a program as ``PROGRAM`` lists it."""
    return (
        program.id,
        program.name,
        program.secret,
        " ".join(program.redirect_uris),
        program.legacy,
        program.created,
    )


def code_of_row(row: Row) -> AuthorizationCode:
    """Return the code that ``CODE`` gives."""
    return AuthorizationCode(bytes(row[0]), *row[1:])


def row_of_code(code: AuthorizationCode) -> Row:
    """Return a code as ``CODE`` lists it."""
    return tuple(getattr(code, field.name) for field in fields(AuthorizationCode))


def device_of_row(row: Row) -> DeviceRequest:
    """Return the request that ``DEVICE`` gives."""
    digest, user_code, program_id, scopes, expires, user_id, denied = row
    return DeviceRequest(
        bytes(digest), user_code, program_id, scopes, expires, user_id, bool(denied)
    )


def row_of_device(request: DeviceRequest) -> Row:
    """Return a request as ``DEVICE`` lists it."""
    return tuple(getattr(request, field.name) for field in fields(DeviceRequest))


def grant_of_row(row: Row) -> Grant:
    """Return the grant that ``GRANT`` gives."""
    return Grant(*row)


def scopes_of_tokens(tokens: NewTokens, granted: str) -> str:
    """Return what an access token allows."""
    return tokens.scopes or granted


def is_repeated(used: int, now: int, grace: int) -> bool:
    """Tell whether what was used already is used by the same request, sent once more."""
    return bool(grace) and now <= used + grace


def refuse_disabled(user: User) -> User:
    """Return the user.

    Raises:
        Conflict: the user is disabled, or is ``system``.
    """
    if user.disabled:
        raise Conflict(f"the user {user.name} is disabled")
    return refuse_system(user)
