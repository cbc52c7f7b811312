"""Names that look like those of users: the rules and SQL that both databases share.

The check is part of the transaction that registers a user. Such transactions run one after another,
so of two people who register names that look alike at the same moment, one is refused, whichever
nodes they use.

Each user's row has the skeleton of the name, with an index. Rows that a node of a former version
has added since the migration get theirs when the next user registers.
"""

from collections.abc import Callable
from typing import Final

from mapshelf.errors import AlreadyExists
from mapshelf.model import name_key
from mapshelf.store.publishing_queries import Read
from mapshelf.text.skeleton import name_in_ascii, skeleton

ROWS_AT_ONCE: Final = 10_000
"""Rows that get a skeleton in one statement."""

_WITHOUT_SKELETON: Final = (
    "SELECT id, name FROM users WHERE skeleton IS NULL AND id > ? ORDER BY id LIMIT ?"
)

_ADD: Final = "UPDATE users SET skeleton = ? WHERE id = ? RETURNING id"


def refuse_lookalike(read: Read, name: str) -> None:
    """Check that a new name does not look like that of a user.

    Raises:
        AlreadyExists: it does.
    """
    for user_id, other in read("SELECT id, name FROM users WHERE skeleton IS NULL", ()):
        read(_ADD, (skeleton(other), user_id))
    plain = name_in_ascii(name)
    alike = bool(read("SELECT 1 FROM users WHERE skeleton = ? LIMIT 1", (skeleton(name),)))
    if not alike and plain != name_key(name):
        alike = bool(read("SELECT 1 FROM users WHERE name_key = ?", (plain,)))
    if alike:
        raise AlreadyExists(f"there is a user {name} already")


def add_skeletons(read: Read, write: Callable[[list[tuple[str, int]]], object]) -> None:
    """Add the skeletons of all users without one.

    Args:
        read: runs a statement of the transaction.
        write: writes the skeletons of the users with these ids.
    """
    after = 0
    while rows := read(_WITHOUT_SKELETON, (after, ROWS_AT_ONCE)):
        after = rows[-1][0]
        write([(skeleton(name), user_id) for user_id, name in rows])
