"""User accounts and tokens: manage them, and look up the tokens of requests."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from mapshelf.model import Credential, Role, Token, User


class Accounts(Protocol):
    """Manages users and tokens. User names are case-insensitive."""

    def add_user(
        self, name: str, role: Role = Role.MEMBER, *, even_if_reserved: bool = False
    ) -> User:
        """Register a user without a password.

        Args:
            name: the name.
            role: the role.
            even_if_reserved: whether the user gets the name even if it is reserved, because an
                import may name a deleted user (``ClosedAccounts.finish_closing``).

        Raises:
            AlreadyExists: the name is taken, or reserved.
        """

    def users(self) -> list[User]:
        """Return all users in ascending order of id."""

    def disable_user(self, name: str) -> User:
        """Disable a user. Their tokens, sessions and links are refused from then on.

        Device requests that the user has allowed are deleted. Undoing an earlier decision that
        disabled the user (``Moderation``) has no effect on the user from then on.

        Raises:
            NotFound: no user has this name.
        """

    def enable_user(self, name: str) -> User:
        """Undo ``disable_user``: whatever has not expired or been deleted since is valid again.

        Undoing an earlier decision has no effect on the user either, as after ``disable_user``.

        Raises:
            NotFound: no user has this name.
        """

    def set_role(self, name: str, role: Role) -> User:
        """Give a user this role.

        Raises:
            NotFound: no user has this name.
        """

    def add_token(  # noqa: PLR0913 - the facts of one row, and a limit
        self,
        user: str,
        digest: bytes,
        *,
        label: str,
        scopes: str,
        expires: int | None,
        most: int | None = None,
    ) -> Token:
        """Add a personal token for ``user``. Only its digest is stored.

        Its id is higher than those of all tokens that the user has already.

        Args:
            user: the name of the user.
            digest: the digest of the token.
            label: its purpose, for the user.
            scopes: what it allows.
            expires: when it expires, ``None`` if never.
            most: the maximum number of tokens of the user that are neither revoked nor open feeds,
                this one included; ``None`` if there is none. MUST hold for concurrent calls.

        Raises:
            NotFound: no user has this name.
            TooManyTokens: the user has ``most`` already.
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
    """Looks up the tokens of requests.

    Attributes:
        tokens_version_age: seconds for which a caller may cache a ``tokens_version``, shorter in a
            store where the call is cheap.
    """

    tokens_version_age: float

    def tokens_version(self) -> str:
        """Return the version of all tokens, which changes when a token or its user may lose rights.

        This includes the end of a session and a change of role. Adding or using a token may or may
        not change it.

        MUST be current, even if the database has replicas; a store that cannot guarantee that
        raises ``StoreUnavailable``. MUST be cheap: callers poll it constantly.
        """

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """Return, by digest, the known tokens among ``digests`` with their users, valid or not.

        The answer MUST be at least as recent as the given ``tokens_version``; without one, it MUST
        be up to date. An unknown token MUST be checked against current data. MUST be cheap for many
        unknown digests, because anyone can invent tokens.
        """

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """Record when each token was last used, by token id. Older times are ignored.

        A token that another transaction has locked MAY be left out.
        """
