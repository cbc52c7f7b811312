"""Sign-in: passwords, one-time links, sessions, and failure counts for throttling.

The store holds only digests of secrets and hashes of passwords; ``accounts/`` creates and checks
them. The user ``system`` cannot sign in.
"""

from collections.abc import Collection
from typing import Protocol

from mapshelf.model import (
    NO_PROOF,
    Access,
    Failures,
    LinkKind,
    OneTimeLink,
    PasswordRecord,
    SignInProof,
    Token,
    User,
)
from mapshelf.store.contract.administration import AuditLog


class Passwords(Protocol):
    """Stores passwords, and one-time links for setting them."""

    def password_of(self, name: str) -> PasswordRecord | None:
        """Return the user with this name and their password, or ``None``.

        Case is ignored; for Unicode forms see ``user_keys``. MUST be up to date.
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

        The same transaction ends all sessions of the user except ``keep``, and deletes the user's
        one-time links and everything that ``ending`` names.

        Args:
            user_id: the user.
            encoded: the encoded hash of the new password.
            keep: id of the session to keep.
            checked: the encoded hash that the current password was checked against, if any.
            ending: other credentials to end. Personal tokens are revoked.

        Raises:
            NotFound: there is no such user.
            Conflict: the user is ``system``; or ``checked`` is given, and the user is disabled or
                the password has changed.
        """

    def set_first_password(
        self, user_id: int, encoded: str, *, keep: int, ending: Collection[Access] = ()
    ) -> None:
        """Set the password of a user who has none; otherwise like ``set_password``.

        Raises:
            NotFound: there is no such user.
            Conflict: the user is ``system``, is disabled, or has a password.
        """

    def add_link(
        self,
        kind: LinkKind,
        digest: bytes,
        user: int | None,
        expires: int,
        created_by: int | None,
    ) -> None:
        """Add a single-use link that is valid until ``expires``.

        Args:
            kind: the purpose of the link.
            digest: SHA-256 of its secret.
            user: id of the user whose password it sets, ``None`` for an invitation.
            expires: see above; expired links MAY be deleted at any time.
            created_by: id of the administrator who creates it, ``None`` for a command.

        Raises:
            NotFound: there is no such user.
            Conflict: the user is ``system``.
        """

    def link(self, digest: bytes, now: int) -> OneTimeLink | None:
        """Return a link that is valid at ``now``, without using it; ``None`` if there is none.

        Links for a disabled user are not valid, and neither are links whose creator is disabled
        or no longer an administrator. MUST be up to date.
        """

    def invitations(self, now: int) -> list[OneTimeLink]:
        """Return the invitations that are valid at ``now``, oldest first."""

    def withdraw_invitation(self, digest: bytes) -> None:
        """Delete an invitation.

        Raises:
            NotFound: it does not exist; perhaps it has been used.
        """

    def use_link(
        self, digest: bytes, encoded: str, now: int, ending: Collection[Access] = ()
    ) -> User:
        """Set the password of a link's user, like ``set_password``, and return the user.

        The link is deleted in the same transaction. Of concurrent uses, exactly one MUST succeed.

        Raises:
            NotFound: there is no such password link that is valid at ``now``.
        """

    def register(self, digest: bytes | None, name: str, encoded: str, now: int) -> User:
        """Register a member with a password, with or without an invitation.

        The invitation with this ``digest`` is deleted in the same transaction: it is valid for one
        account, even under concurrent use. On failure it is kept.

        Raises:
            NotFound: there is no such invitation that is valid at ``now``.
            AlreadyExists: the name is taken, or looks like that of a user. Of concurrent calls
                with names that look alike, only one may succeed.
        """


class Sessions(Protocol):
    """Stores sessions: tokens of the kind ``session``, which ``find_credentials`` finds."""

    def add_session(  # noqa: PLR0913 - the facts of one row
        self,
        user_id: int,
        digest: bytes,
        label: str,
        expires: int,
        replacing: bytes | None,
        *,
        proof: SignInProof = NO_PROOF,
    ) -> Token:
        """Start a session with all scopes.

        The same transaction ends the session with the digest ``replacing``, of any user, and
        deletes expired sessions. Only the newest ``SESSIONS_OF_USER`` of a user are kept.

        Args:
            user_id: the user.
            digest: SHA-256 of its secret.
            label: a description of the browser.
            expires: its expiry time.
            replacing: see above.
            proof: how the user proved who they are. A session MUST NOT start if it no longer
                holds: the password has changed, or the passkey or the identity was removed.

        Raises:
            NotFound: there is no such user.
            Conflict: the user is ``system`` or disabled, or the proof no longer holds.
        """

    def sessions(self, user_id: int) -> list[Token]:
        """Return the sessions of a user, including expired ones, newest first."""

    def end_session(self, user_id: int, token_id: int) -> None:
        """End a session and delete its row.

        Raises:
            NotFound: the user has no such session.
        """

    def end_sessions(self, user_id: int, keep: int | None) -> int:
        """End all sessions of a user except ``keep``; return how many."""

    def end_all_access(self, *, tokens: bool) -> None:
        """End the sessions, password links, invitations and unfinished authorizations of everybody.

        Nothing that another transaction adds at the same moment may remain, unless it began later.

        Args:
            tokens: whether to revoke all tokens and withdraw all programs, too.
        """


class SignInFailures(Protocol):
    """Counts failed sign-ins, by keys that are digests of names and addresses.

    The failures of a key expire a day after the first one. At most ``MOST_KEYS`` keys are kept;
    those with the oldest first failure are dropped first.
    """

    def failures(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """Return the known failures by key. MUST be up to date and cheap."""

    def note_failure(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """Count a failure for each of ``keys``; return the failures before this one.

        This is one transaction, so that concurrent calls see each other's failures. The time of
        the last failure is the latest, as the clocks of nodes may differ; but if it lies more than
        ``LATER_KEPT`` after ``now``, a clock was wrong, and it becomes ``now``.
        """

    def attempts(self, key: bytes, now: int) -> int:
        """Return the failures of a key; none if the first lies in the future (``has_come``)."""

    def note_attempt(self, key: bytes, now: int) -> int:
        """Count a failure, and return those before it as ``attempts`` does, in one transaction.

        If the first lay in the future, the count begins again.
        """

    def note_success(self, key: bytes, others: Collection[bytes], now: int) -> None:
        """Delete the failures of ``key``, and subtract one failure from each of ``others``.

        ``key`` becomes a known address; see ``is_known_address``.
        """

    def is_known_address(self, key: bytes, now: int) -> bool:
        """Return whether ``note_success`` was called for ``key`` within 90 days.

        At most ``MOST_KEYS`` keys are kept; the oldest are dropped first.
        """


class SignIn(Passwords, Sessions, SignInFailures, AuditLog, Protocol):
    """All sign-in protocols."""
