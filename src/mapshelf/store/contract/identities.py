"""Identities: who signs in by an OpenID provider, and as which user."""

from typing import Protocol

from mapshelf.model import Identity, User


class Identities(Protocol):
    """Keeps which subjects of which issuers are which users.

    A subject of an issuer is one user at most. Names and addresses link nobody.
    """

    def user_of_identity(self, issuer: str, subject: str) -> User | None:
        """Return the user who is linked to a subject; ``None`` if nobody is.

        MUST be up to date.
        """

    def identities(self, user_id: int) -> list[Identity]:
        """Return the identities of a user, oldest first."""

    def link_identity(self, user_id: int, issuer: str, subject: str, name: str) -> Identity:
        """Link a user to a subject, and return the identity; it may be linked to them already.

        Args:
            user_id: the user.
            issuer: the provider.
            subject: what it calls the user.
            name: what to show.

        Raises:
            NotFound: there is no such user.
            AlreadyExists: another user is linked to the subject. If two link it at the same moment,
                exactly one MUST succeed.
            Conflict: it is the user ``system``, or the user is disabled, or has
                ``IDENTITIES_OF_USER`` already.
        """

    def unlink_identity(self, user_id: int, issuer: str, subject: str) -> None:
        """Delete an identity.

        Raises:
            NotFound: the user has no such identity.
            LastWay: it is the last one of a user without a password and without passkeys.
        """

    def register_by_identity(self, name: str, issuer: str, subject: str, shown: str) -> User:
        """Register a member without a password who is linked to a subject.

        It is one transaction. If somebody is linked to the subject by now, that user is returned.

        Args:
            name: of the new user.
            issuer: the provider.
            subject: what it calls the user.
            shown: the name of the identity.

        Raises:
            AlreadyExists: the name is taken.
        """
