"""Signing in: passwords, one-time links, sessions, and failures that slow down guessing.

The store knows secrets and passwords by digests and encoded hashes only; what makes and checks
them is in ``accounts/``. Nothing here is open to the user ``system``.
"""

from collections.abc import Collection
from typing import Protocol

from mapshelf.model import Access, Failures, LinkKind, OneTimeLink, PasswordRecord, Token, User
from mapshelf.store.contract.administration import AuditLog


class Passwords(Protocol):
    """Keeps passwords, and the links with which people choose them."""

    def password_of(self, name: str) -> PasswordRecord | None:
        """Return the user with this name, in any case, with the password; ``None`` if none has it.

        MUST be up to date.
        """

    def set_password(
        self,
        user_id: int,
        encoded: str,
        *,
        keep: int | None,
        checked: str | None = None,
        ending: Collection[Access] = (),
    ) -> None:
        """Set the password of a user.

        In the same transaction all sessions of the user end but the one with the id ``keep``, the
        one-time links of the user are deleted, and so is what ``ending`` says.

        Args:
            user_id: the user.
            encoded: the encoded hash of the new password.
            keep: the session that goes on.
            checked: the encoded hash with which the present password was checked, if it was.
            ending: what ends besides. Personal tokens count as revoked.

        Raises:
            NotFound: there is no such user.
            Conflict: it is the user ``system``, or ``checked`` is given, and the user is disabled
                or the password has changed.
        """

    def set_first_password(
        self, user_id: int, encoded: str, *, keep: int, ending: Collection[Access] = ()
    ) -> None:
        """Set the password of a user who has none; otherwise as ``set_password``.

        Raises:
            NotFound: there is no such user.
            Conflict: it is the user ``system``, or the user is disabled or has a password.
        """

    def add_link(
        self,
        kind: LinkKind,
        digest: bytes,
        user: int | None,
        expires: int,
        created_by: int | None,
    ) -> None:
        """Add a link that is good once and before ``expires``.

        Args:
            kind: what it is good for.
            digest: SHA-256 of its secret.
            user: id of the user whose password it sets, ``None`` for an invitation.
            expires: see above; expired links MAY be deleted at any time.
            created_by: id of the administrator who makes it, ``None`` for a command.

        Raises:
            NotFound: there is no such user.
            Conflict: it is the user ``system``.
        """

    def link(self, digest: bytes, now: int) -> OneTimeLink | None:
        """Return a link that is good at ``now``; ``None`` if there is none. This spends nothing.

        A link of a disabled user is not good, and none that such a user has made. MUST be up to
        date.
        """

    def invitations(self, now: int) -> list[OneTimeLink]:
        """Return the invitations that are good at ``now``, oldest first."""

    def withdraw_invitation(self, digest: bytes) -> None:
        """Delete an invitation.

        Raises:
            NotFound: there is none; perhaps it has been used.
        """

    def use_link(
        self, digest: bytes, encoded: str, now: int, ending: Collection[Access] = ()
    ) -> User:
        """Set the password of the user of a link, as ``set_password`` does, and return the user.

        The link is deleted in the same transaction. If two use one link at the same moment, exactly
        one MUST succeed.

        Raises:
            NotFound: the link is not one for a password that is good at ``now``.
        """

    def register(self, digest: bytes | None, name: str, encoded: str, now: int) -> User:
        """Register a member with a password, by invitation or without one.

        The invitation with this ``digest`` is deleted in the same transaction: it is good for
        one account, even if several use it at the same moment. If this raises, it stays.

        Raises:
            NotFound: there is no such invitation that is good at ``now``.
            AlreadyExists: the name is taken.
        """


class Sessions(Protocol):
    """Keeps sessions: tokens of the kind ``session``, which ``find_credentials`` finds."""

    def add_session(  # noqa: PLR0913 - the facts of one row
        self,
        user_id: int,
        digest: bytes,
        label: str,
        expires: int,
        replacing: bytes | None,
        *,
        encoded: str | None = None,
    ) -> Token:
        """Begin a session with all scopes.

        In the same transaction the session with the digest ``replacing`` ends, whoever's it is, and
        expired sessions are deleted. Of each user the newest ``SESSIONS_OF_USER`` are kept.

        Args:
            user_id: whose session it is.
            digest: SHA-256 of its secret.
            label: which browser it is in.
            expires: when it ends by itself.
            replacing: see above.
            encoded: the encoded hash with which the password was checked, if it was. A session
                MUST NOT begin if the user has another one by now.

        Raises:
            NotFound: there is no such user.
            Conflict: it is the user ``system``, the user is disabled, or the password has changed.
        """

    def sessions(self, user_id: int) -> list[Token]:
        """Return the sessions of a user, expired ones too, newest first."""

    def end_session(self, user_id: int, token_id: int) -> None:
        """End a session; its row is deleted.

        Raises:
            NotFound: the user has no such session.
        """

    def end_sessions(self, user_id: int, keep: int | None) -> int:
        """End all sessions of a user but the one with the id ``keep``; return how many."""


class SignInFailures(Protocol):
    """Counts failures of signing in, by keys that are digests of names and addresses.

    The failures of a key are forgotten a day after the first of them. At most ``MOST_KEYS`` keys
    are kept; those whose first failure is longest ago go first.
    """

    def failures(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """Return, by key, the failures that are known. MUST be up to date and cheap."""

    def note_failure(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """Count a failure for each of ``keys``; return what ``failures`` returned before.

        It is one transaction, so that of several at the same moment each sees those before it.
        """

    def note_success(self, key: bytes, others: Collection[bytes], now: int) -> None:
        """Forget the failures of ``key``, and take back one failure of each of ``others``.

        From now on ``key`` is known, see ``is_known_address``.
        """

    def is_known_address(self, key: bytes, now: int) -> bool:
        """Tell whether ``note_success`` was called for ``key`` within 90 days.

        At most ``MOST_KEYS`` keys are kept; the oldest go first.
        """


class SignIn(Passwords, Sessions, SignInFailures, AuditLog, Protocol):
    """All that signing in takes."""
