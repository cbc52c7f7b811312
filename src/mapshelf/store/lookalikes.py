"""Names that look like those of users: the rules and SQL that both databases share.

The check is part of the transaction that registers a user. Such transactions run one after another,
so of two people who register names that look alike at the same moment, one is refused, whichever
nodes they use.

Each user's row has the skeleton of the name, with an index. Rows of former versions, whose nodes
may still add some during an upgrade, get theirs when the next user registers. As that takes seconds
with very many users, the upkeep of a node adds most of them before, a few at a time.
"""

from typing import Final

from mapshelf.errors import AlreadyExists
from mapshelf.model import name_key
from mapshelf.store.publishing_queries import Read
from mapshelf.text.skeleton import name_in_ascii, skeleton

ROWS_AT_ONCE: Final = 1000
"""Rows that get a skeleton in one statement: SQLite allows 32,766 parameters."""

_WITHOUT_SKELETON: Final = "SELECT id, name FROM users WHERE skeleton IS NULL LIMIT ?"

_ADD: Final = (
    "WITH looks (id, skeleton) AS (VALUES {}) UPDATE users SET skeleton = looks.skeleton"
    " FROM looks WHERE users.id = looks.id RETURNING users.id"
)


def refuse_lookalike(read: Read, name: str) -> None:
    """Check that a new name does not look like that of a user.

    Raises:
        AlreadyExists: it does.
    """
    while add_skeletons(read):
        pass
    plain = name_in_ascii(name)
    alike = bool(read("SELECT 1 FROM users WHERE skeleton = ? LIMIT 1", (skeleton(name),)))
    if not alike and plain != name_key(name):
        alike = bool(read("SELECT 1 FROM users WHERE name_key = ?", (plain,)))
    if alike:
        raise AlreadyExists(f"there is a user {name} already")


def lacks_skeletons(read: Read) -> bool:
    """Return whether users are without a skeleton."""
    return bool(read("SELECT 1 FROM users WHERE skeleton IS NULL LIMIT 1", ()))


def add_skeletons(read: Read) -> bool:
    """Add the skeletons of up to ``ROWS_AT_ONCE`` users without one; return whether there were any.

    The transaction holds the counters, because names might change otherwise.
    """
    rows = read(_WITHOUT_SKELETON, (ROWS_AT_ONCE,))
    if rows:
        values = ", ".join(["(CAST(? AS BIGINT), CAST(? AS TEXT))"] * len(rows))
        looks = (value for user_id, name in rows for value in (user_id, skeleton(name)))
        read(_ADD.format(values), tuple(looks))
    return bool(rows)
