"""What is noted of what people do (``model.audit``): who it is, and from where.

The address is the one that a client counts as behind trusted proxies; of IPv6, only its network.
"""

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from mapshelf.model import DAY, Access, AuditEntry, AuditEvent, User
from mapshelf.store import Store

T = TypeVar("T")

KEPT: Final = 90 * DAY
"""How long the log is kept, in milliseconds."""

_ENDED: Final = {Access.PROGRAMS: "tokens, programs", Access.WAYS: "passkeys, linked accounts"}
"""What the log calls what has ended."""

COMMAND: Final = "command line"
"""What stands for the address of who runs a command."""


def done_by(user: User, address: str, event: AuditEvent, target: str = "") -> AuditEntry:
    """Return what to note of somebody who is signed in, or uses a token."""
    return AuditEntry(event, target, user.id, user.name, address)


def changing_password(
    user: User, address: str, ending: Collection[Access]
) -> tuple[AuditEntry, ...]:
    """Return what to note of somebody who changes a password, and what ends with the former one."""
    changed = done_by(user, address, AuditEvent.PASSWORD_CHANGED)
    ended = ", ".join(_ENDED[one] for one in Access if one in ending)
    return (
        (changed, done_by(user, address, AuditEvent.ACCESS_ENDED, ended)) if ended else (changed,)
    )


def done_by_command(event: AuditEvent, target: str = "") -> AuditEntry:
    """Return what to note of whoever runs a command."""
    return AuditEntry(event, target, address=COMMAND)


def registering(name: str, address: str) -> AuditEntry:
    """Return what to note of whoever gets an account by signing in, or by registering."""
    return AuditEntry(AuditEvent.USER_REGISTERED, about_user(name), user=name, address=address)


def noted(entry: AuditEntry, work: Callable[[Store], T], store: Store) -> T:
    """Return the result of ``work``, which is noted with what it writes."""
    with store.auditing(entry):
        return work(store)


def about_user(name: str) -> str:
    """Return the target of what is done to a user."""
    return f"user {name}"


def about_token(label: str) -> str:
    """Return the target of what is done to a token."""
    return f"token {label}".rstrip()


def about_client(program_id: str) -> str:
    """Return the target of what is done to a program, which is a client of OAuth."""
    return f"client {program_id}"


def about_map(public_id: str) -> str:
    """Return the target of what is done to a map."""
    return f"map {public_id}"


def about_collection(public_id: str) -> str:
    """Return the target of what is done to a collection."""
    return f"collection {public_id}"


def about_search(public_id: str) -> str:
    """Return the target of what is done to a saved search."""
    return f"search {public_id}"
