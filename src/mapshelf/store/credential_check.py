"""Checks, within each write of a request, that its token or session is still valid.

A request is authorised when it arrives. Its write may come much later: a client can hold back the
rest of its body, and work may wait in a queue. Meanwhile the user may have ended that access, or
have lost their role. What a write leaves behind, such as a new token, would last.
"""

from collections.abc import Callable

from mapshelf.errors import InvalidToken
from mapshelf.model import Credential, Role
from mapshelf.store.columns import FROM_TOKENS, TOKEN, USER_OF_TOKEN, credential_of_row
from mapshelf.store.publishing_queries import Read
from mapshelf.tokens import is_valid

_CURRENT = f"SELECT {USER_OF_TOKEN}, {TOKEN} FROM {FROM_TOKENS} WHERE t.id = ?"


class CredentialCheck:
    """The check for one credential."""

    def __init__(self, credential: Credential, clock: Callable[[], int]) -> None:
        self.credential = credential
        self._clock = clock

    def require_valid(self, read: Read, locking: str = "") -> None:
        """Check that the credential is still valid, and that its user has not lost a role.

        Args:
            read: runs a statement of the transaction.
            locking: an SQL clause that keeps the token as it is until the transaction ends, if the
                database needs one.

        Raises:
            InvalidToken: it is not.
        """
        before = self.credential
        rows = read(f"{_CURRENT} {locking}", (before.token.id,))
        now = credential_of_row(rows[0]) if rows else None
        if (
            now is None
            or now.user.id != before.user.id
            or now.token.created != before.token.created  # a restored database reuses ids
            or (before.user.role is Role.ADMINISTRATOR is not now.user.role)
            or not is_valid(now, self._clock())
        ):
            raise InvalidToken(sent=True)
