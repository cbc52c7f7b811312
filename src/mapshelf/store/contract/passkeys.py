"""Passkeys, and the challenges that authenticators sign."""

from typing import Protocol

from mapshelf.model import Passkey, User


class Passkeys(Protocol):
    """Keeps passkeys, and challenges that are good once."""

    def add_challenge(self, digest: bytes, now: int, expires: int) -> None:
        """Add a challenge, and delete expired ones. Of all, the newest ``MOST_KEYS`` are kept."""

    def use_challenge(self, digest: bytes, now: int) -> bool:
        """Delete a challenge; tell whether it was there, and good at ``now``.

        If several use one challenge at the same moment, exactly one MUST be told so.
        """

    def add_passkey(self, user_id: int, passkey: Passkey) -> None:
        """Add a passkey.

        Raises:
            NotFound: there is no such user.
            AlreadyExists: there is a passkey with this id, whoever's it is.
            Conflict: it is the user ``system``, or the user is disabled, or has
                ``PASSKEYS_OF_USER`` already.
        """

    def passkeys(self, user_id: int) -> list[Passkey]:
        """Return the passkeys of a user, oldest first."""

    def find_passkey(self, passkey_id: bytes) -> tuple[Passkey, User] | None:
        """Return a passkey with its user; ``None`` if there is none. MUST be up to date."""

    def note_passkey_use(self, passkey_id: bytes, sign_count: int, now: int) -> bool:
        """Note that a passkey has signed; tell whether it may have.

        It may not if it is not there any longer, or if ``sign_count`` is not more than what it was
        before: then there is a copy of it. Only authenticators that do not count say 0 each time.
        """

    def remove_passkey(self, user_id: int, passkey_id: bytes) -> None:
        """Delete a passkey.

        Raises:
            NotFound: the user has no such passkey.
            LastWay: it is the last one of a user without a password and without identities.
        """
