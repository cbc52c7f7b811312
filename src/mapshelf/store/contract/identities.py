"""Identities: links between users and their accounts at OpenID providers."""

from typing import Protocol

from mapshelf.model import Identity, User


class Identities(Protocol):
    """Maps subjects of OpenID issuers to users.

    A subject of an issuer belongs to at most one user. Names and addresses are never used to link
    users.
    """

    def user_of_identity(self, issuer: str, subject: str) -> User | None:
        """Return the user linked to a subject, ``None`` if there is none.

        MUST be up to date.
        """

    def identities(self, user_id: int) -> list[Identity]:
        """Return the identities of a user, oldest first."""

    def link_identity(self, user_id: int, issuer: str, subject: str, name: str) -> Identity:
        """Link a user to a subject, unless they are linked already; return the identity.

        Args:
            user_id: the user.
            issuer: the provider.
            subject: the provider's identifier of the user.
            name: the name to display.

        Raises:
            NotFound: there is no such user.
            AlreadyExists: another user is linked to the subject. Of concurrent attempts, exactly
                one MUST succeed.
            Conflict: the user is ``system``, is disabled, or already has ``IDENTITIES_OF_USER``
                identities.
        """

    def unlink_identity(self, user_id: int, issuer: str, subject: str) -> None:
        """Delete an identity.

        Raises:
            NotFound: the user has no such identity.
            LastWayToSignIn: it is the last identity of a user without a password or passkeys.
        """

    def register_by_identity(self, name: str, issuer: str, subject: str, shown: str) -> User:
        """Register a member without a password and link them to a subject, in one transaction.

        If a user is already linked to the subject, that user is returned.

        Args:
            name: the name of the new user.
            issuer: the provider.
            subject: the provider's identifier of the user.
            shown: the display name of the identity.

        Raises:
            AlreadyExists: the name is taken, or looks like that of a user; see ``register``.
        """
