"""Names that nobody can register, although no user has them: the rules for both databases.

The owner of imported maps may delete her account. The maps stay, as maps of ``system``, but
``--owner`` or records still name her. So whoever registered her name would get all of them with the
next import. Therefore the name stays reserved until the operator gives it to somebody.

A reserved name has a row in ``users`` of its own, to which nothing else refers: it is closed, and
not in the course of closing. So nobody can sign in or be listed, and names that look like it are
refused, too. The row of the deleted account no longer has the name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from mapshelf.model import (
    SYSTEM_USER,
    MapDraft,
    Role,
    User,
    composed_name,
    name_key,
    user_keys,
)
from mapshelf.store.columns import USER, user_of_row
from mapshelf.store.publishing_queries import Read
from mapshelf.text.skeleton import skeleton

RESERVED: Final = "(closed IS NOT NULL AND closing IS NULL)"
"""Whether a row of ``users`` only reserves a name, or is that of a deleted user, without a name."""


def reserve_name(read: Read, name: str, now: int) -> None:
    """Reserve a name that no user has any longer."""
    read(
        "INSERT INTO users (name, name_key, skeleton, registered, disabled, role, closed)"
        " VALUES (?, ?, ?, ?, (1 = 1), 'member', ?) RETURNING id",
        (name, name_key(name), skeleton(name), now, now),
    )


def is_reserved(read: Read, name: str) -> bool:
    """Return whether a name is reserved and not a user's, ignoring case and Unicode form."""
    known = _known(read, [name]).values()
    return bool(known) and all(reserved for _, reserved in known)


def give_reserved_name(read: Read, name: str, role: Role, now: int) -> User | None:
    """Make a user without a password of a reserved name; return ``None`` if it is not reserved."""
    rows = read(
        "UPDATE users SET name = ?, skeleton = ?, registered = ?, role = ?, password = NULL,"
        f" closed = NULL, disabled = (1 = 0) WHERE name_key = ? AND {RESERVED} RETURNING {USER}",
        (name.strip(), skeleton(name), now, role.value, name_key(name)),
    )
    return user_of_row(rows[0]) if rows else None


def owner_in_place_of(read: Read, name: str) -> str:
    """Return who owns maps for which an import names an owner, as that name is stored.

    That is ``system`` if the name is reserved.
    """
    return _owner(name, _known(read, [name]))


def with_owners(read: Read, drafts: Sequence[MapDraft]) -> Sequence[MapDraft]:
    """Return the drafts of an import with their owners as in ``owner_in_place_of``."""
    named = {draft.owner for draft in drafts if draft.owner is not None}
    if not named:
        return drafts
    known = _known(read, named)
    owners = {name: _owner(name, known) for name in named}
    return [one if one.owner is None else replace(one, owner=owners[one.owner]) for one in drafts]


def _known(read: Read, names: Iterable[str]) -> dict[str, tuple[str, bool]]:
    """Return names as they are stored, and whether they are reserved, by their keys."""
    keys = tuple({key for name in names for key in user_keys(name)})
    rows = read(
        f"SELECT name_key, name, CASE WHEN {RESERVED} THEN 1 ELSE 0 END FROM users"
        f" WHERE name_key IN ({', '.join('?' * len(keys))})",
        keys,
    )
    return {key: (name, bool(reserved)) for key, name, reserved in rows}


def _owner(name: str, known: Mapping[str, tuple[str, bool]]) -> str:
    found = [known[key] for key in user_keys(name) if key in known]
    users = [stored for stored, reserved in found if not reserved]
    if users:
        return users[0]
    return SYSTEM_USER if found else composed_name(name)
