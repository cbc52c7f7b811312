"""Passkeys (WebAuthn), and the challenges that authenticators sign."""

from typing import Protocol

from mapshelf.model import Passkey, User


class Passkeys(Protocol):
    """Stores passkeys and single-use challenges."""

    def add_challenge(self, digest: bytes, now: int, expires: int) -> None:
        """Add a challenge and delete expired ones. Only the newest ``MOST_KEYS`` are kept."""

    def use_challenge(self, digest: bytes, now: int, lifetime: int) -> bool:
        """Delete a challenge; return whether it existed and was valid at ``now``.

        It is not valid if it was added in the future (``has_come``), ``lifetime`` before it
        expires.

        Of concurrent calls with the same challenge, exactly one MUST return ``True``.
        """

    def add_passkey(self, user_id: int, passkey: Passkey) -> None:
        """Add a passkey.

        Raises:
            NotFound: there is no such user.
            AlreadyExists: this or another user has a passkey with this id.
            Conflict: the user is ``system``, is disabled, or already has ``PASSKEYS_OF_USER``
                passkeys.
        """

    def passkeys(self, user_id: int) -> list[Passkey]:
        """Return the passkeys of a user, oldest first."""

    def find_passkey(self, passkey_id: bytes) -> tuple[Passkey, User] | None:
        """Return a passkey with its user; ``None`` if there is none. MUST be up to date."""

    def note_passkey_use(self, passkey_id: bytes, sign_count: int, now: int) -> bool:
        """Record a signature by a passkey; return whether it is acceptable.

        It is not if the passkey has been deleted, or if ``sign_count`` has not increased: then a
        clone of it exists. Authenticators that do not count always send 0, which is accepted.
        """

    def remove_passkey(self, user_id: int, passkey_id: bytes) -> None:
        """Delete a passkey.

        Raises:
            NotFound: the user has no such passkey.
            LastWayToSignIn: it is the last passkey of a user without a password or identities.
        """
