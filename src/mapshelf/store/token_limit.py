"""The limit on the personal tokens of a user, which both databases check as they add one.

It is checked in the transaction that adds the token, while no other one adds a token for the user:
otherwise, several requests at once would all find room for one more.
"""

from typing import Final

from mapshelf.errors import TooManyTokens
from mapshelf.store.publishing_queries import Read
from mapshelf.tokens import FEEDS

_PRESENT: Final = (
    "SELECT count(*) FROM tokens"
    " WHERE user_id = ? AND kind = 'personal' AND revoked IS NULL AND scopes <> ?"
)


def refuse_beyond(read: Read, user_id: int, most: int | None) -> None:
    """Check that a user may have another token; feed addresses do not count.

    Args:
        read: runs a statement of the transaction.
        user_id: the user, for whom no other transaction adds a token meanwhile.
        most: the limit, ``None`` if there is none.

    Raises:
        TooManyTokens: the user has ``most`` tokens that are not revoked.
    """
    if most is None:
        return
    ((count,),) = read(_PRESENT, (user_id, FEEDS))
    if count >= most:
        raise TooManyTokens(f"this user has {most} tokens")
