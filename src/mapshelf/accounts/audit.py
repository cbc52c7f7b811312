"""Builds the audit log entries for user actions (``model.audit``): who acted, and from where.

The address is the client's address as seen behind trusted proxies; for IPv6, only its network.
"""

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from mapshelf.model import DAY, Access, AuditEntry, AuditEvent, User, about_user
from mapshelf.store import Store

T = TypeVar("T")

KEPT: Final = 90 * DAY
"""How long entries are stored, in milliseconds."""

_ENDED: Final = {Access.PROGRAMS: "tokens, programs", Access.WAYS: "passkeys, linked accounts"}
"""The names of ended credentials in the log."""

COMMAND: Final = "command line"
"""The address logged for commands."""


def done_by(user: User, address: str, event: AuditEvent, target: str = "") -> AuditEntry:
    """Return the entry for a signed-in user or the owner of a token."""
    return AuditEntry(event, target, user.id, user.name, address)


def changing_password(
    user: User, address: str, ending: Collection[Access]
) -> tuple[AuditEntry, ...]:
    """Return the entry for a password change, including the credentials that end with it."""
    changed = done_by(user, address, AuditEvent.PASSWORD_CHANGED)
    ended = ", ".join(_ENDED[one] for one in Access if one in ending)
    return (
        (changed, done_by(user, address, AuditEvent.ACCESS_ENDED, ended)) if ended else (changed,)
    )


def done_by_command(event: AuditEvent, target: str = "") -> AuditEntry:
    """Return the entry for an action of a command."""
    return AuditEntry(event, target, address=COMMAND)


def registering(name: str, address: str) -> AuditEntry:
    """Return the entry for an account created by signing in or by registering."""
    return AuditEntry(AuditEvent.USER_REGISTERED, about_user(name), user=name, address=address)


def noted(entry: AuditEntry, work: Callable[[Store], T], store: Store) -> T:
    """Run ``work`` and log ``entry`` together with its writes; return the result."""
    with store.auditing(entry):
        return work(store)
