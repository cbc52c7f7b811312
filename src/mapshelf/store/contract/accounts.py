"""Users and their tokens: managing them, and checking the tokens of requests."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from mapshelf.model import Credential, Role, Token, User


class Accounts(Protocol):
    """Manages users and tokens. Names of users are compared without regard to case."""

    def add_user(self, name: str, role: Role = Role.MEMBER) -> User:
        """Register a user without a password.

        Raises:
            AlreadyExists: the name is taken.
        """

    def users(self) -> list[User]:
        """Return all users in ascending order of id."""

    def disable_user(self, name: str) -> User:
        """Disable a user. Their tokens, sessions and links are refused from then on.

        Raises:
            NotFound: no user has this name.
        """

    def enable_user(self, name: str) -> User:
        """Undo ``disable_user``: what has not expired meanwhile is good again.

        Raises:
            NotFound: no user has this name.
        """

    def set_role(self, name: str, role: Role) -> User:
        """Give a user this role.

        Raises:
            NotFound: no user has this name.
        """

    def add_token(
        self, user: str, digest: bytes, *, label: str, scopes: str, expires: int | None
    ) -> Token:
        """Add a personal token for ``user``. Only its digest is kept.

        Raises:
            NotFound: no user has this name.
        """

    def tokens(self, user: str) -> list[Token]:
        """Return the personal tokens of a user in ascending order of id.

        Raises:
            NotFound: no user has this name.
        """

    def revoke_token(self, token_id: int) -> Token:
        """Revoke a token. Revoking it again changes nothing.

        Raises:
            NotFound: there is no such token.
        """


class Credentials(Protocol):
    """Checks the tokens of requests.

    Attributes:
        tokens_version_age: seconds for which a caller may rely on a ``tokens_version``. It is
            shorter in a store where asking is cheap.
    """

    tokens_version_age: float

    def tokens_version(self) -> str:
        """Return the version of all tokens. It changes if a token or its user may lose rights.

        So it does if a session ends, or a user gets another role.

        MUST be the present one, even if there are copies of the database, and MUST NOT be one from
        before; a store that cannot tell raises ``StoreUnavailable``. A new token, or the use of
        one, may change it or not. MUST be cheap: callers ask all the time.
        """

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """Return, by digest, the tokens known among ``digests`` with their users, valid or not.

        The answer MUST be as new as the ``tokens_version`` given as ``version``; without one, it
        MUST be up to date. An answer that a token is unknown MUST always be up to date. MUST be
        cheap for many unknown digests, because anybody can invent tokens.
        """

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """Record when each token was last used, by token id. Times before the known are ignored."""
