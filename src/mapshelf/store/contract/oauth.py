"""OAuth 2: registered client programs, and the authorizations granted to them.

The store holds only digests of secrets, codes and tokens; ``accounts/`` creates and checks them.
Access tokens are tokens of the kind ``access``, which ``find_credentials`` finds.
"""

from typing import Protocol

from mapshelf.model import AuthorizationCode, DeviceRequest, Grant, NewTokens, Program


class RegisteredPrograms(Protocol):
    """Stores the programs that may request authorization."""

    def add_program(self, program: Program, most: int | None = None) -> None:
        """Register a program.

        Args:
            program: the program.
            most: the maximum number of programs that registered themselves (``is_dynamic``), this
                one included; ``None`` if there is none. MUST hold for concurrent calls.

        Raises:
            AlreadyExists: there is one with this id.
            TooManyPrograms: there are ``most`` already.
        """

    def programs(self) -> list[Program]:
        """Return all programs, oldest first."""

    def program(self, program_id: str) -> Program | None:
        """Return the program with this id, ``None`` if there is none. MUST be up to date."""

    def unused_programs(self, before: int) -> list[str]:
        """Return the ids of programs registered before this time that have no grants.

        Those that a clock that was wrong registered in the future count as such.
        """

    def remove_program(self, program_id: str) -> None:
        """Delete a program with all its grants; its tokens become invalid.

        Raises:
            NotFound: there is no such program.
        """


class Grants(Protocol):
    """Stores authorization codes, grants, refresh tokens and access tokens.

    Anything exchanged for tokens MUST be valid only once, even under concurrent use. All methods
    that issue tokens refuse disabled users.
    """

    def add_code(self, code: AuthorizationCode) -> None:
        """Store an authorization code.

        Expired codes MAY be deleted at any time, but used ones are kept for an hour.

        Raises:
            NotFound: there is no such user or program.
            Conflict: the user is disabled, or is ``system``.
        """

    def code(self, digest: bytes) -> AuthorizationCode | None:
        """Return a code, used or not, expired or not; ``None`` if it is unknown."""

    def use_code(self, digest: bytes, tokens: NewTokens, now: int, grace: int = 0) -> Grant | None:
        """Exchange a code for tokens.

        The grant, its refresh token and its access token are added in the same transaction. Only
        the newest ``GRANTS_OF_USER`` grants of a user are kept. For ``grace`` milliseconds, the
        code may be used once more and yields further tokens of the same grant, unless the first
        tokens have been refreshed, which proves that the program received them.

        Returns:
            The grant; ``None`` if the code is not valid at ``now``. If the code was used too often,
            its grant is deleted, with all tokens (RFC 6749, section 4.1.2).
        """

    def refreshed_grant(self, digest: bytes) -> Grant | None:
        """Return the grant of a refresh token, used or not; ``None`` if it is unknown."""

    def use_refresh_token(
        self, digest: bytes, tokens: NewTokens, now: int, grace: int
    ) -> Grant | None:
        """Exchange a refresh token for tokens.

        The first use marks every unused refresh token of the grant as used. For ``grace``
        milliseconds after that, a token may be used again, because programs repeat a request when
        the connection is lost, unless a newer token of the grant was used before ``now``: then the
        program has received what it requested.

        Returns:
            The grant; ``None`` if the token is not valid at ``now``. Any other reuse means that the
            token was copied: the grant is deleted, with all its tokens (RFC 9700, section
            4.14.2). So is a grant with ``REFRESH_TOKENS_OF_GRANT`` unexpired tokens.
        """

    def grants(self, user_id: int, now: int) -> list[Grant]:
        """Return the grants of a user that are valid at ``now``, newest first."""

    def withdraw_grants(self, user_id: int, program_id: str) -> None:
        """Delete all grants of a user to a program, with all their tokens.

        Codes and device requests that have not been exchanged yet are deleted, too.

        Raises:
            NotFound: there are no such grants.
        """

    def revoke_program_token(self, digest: bytes, program_id: str) -> bool:
        """Revoke a token of this program (RFC 7009); a refresh token ends its whole grant.

        Returns:
            Whether there was such a token.
        """


class DeviceRequests(Protocol):
    """Stores authorization requests of devices without a browser (RFC 8628)."""

    def add_device_request(self, request: DeviceRequest, now: int) -> None:
        """Store a request.

        Expired requests are deleted, and only the newest ``MOST_DEVICES`` others are kept.

        Raises:
            NotFound: there is no such program.
            AlreadyExists: the user code is taken.
        """

    def device_request(self, user_code: str, now: int) -> DeviceRequest | None:
        """Return the undecided request with this user code that is valid at ``now``."""

    def decide_device_request(self, user_code: str, user_id: int, now: int, *, allow: bool) -> None:
        """Allow or deny a request. MUST be possible only once.

        Raises:
            NotFound: no such request is pending at ``now``, or there is no such user.
            Conflict: the user is disabled, or is ``system``.
        """

    def poll_device_request(
        self, digest: bytes, now: int, interval: int
    ) -> tuple[DeviceRequest, bool] | None:
        """Return a request, and whether this poll is within ``interval`` of the last one.

        Returns:
            ``None`` if the request is unknown. An expired one MAY be unknown.
        """

    def use_device_request(self, digest: bytes, tokens: NewTokens, now: int) -> Grant | None:
        """Exchange an allowed request for tokens, like ``use_code``, and delete the request.

        Returns:
            The grant; ``None`` if the request is not valid at ``now``, or not allowed.
        """


class Programs(RegisteredPrograms, Grants, DeviceRequests, Protocol):
    """All OAuth protocols."""
