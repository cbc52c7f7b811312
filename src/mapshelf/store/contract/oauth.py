"""Programs that people let in (OAuth 2): their registration, and what they were granted.

The store knows secrets, codes and tokens by digests only; what makes and checks them is in
``accounts/``. Access tokens are tokens of the kind ``access``, which ``find_credentials`` finds.
"""

from typing import Protocol

from mapshelf.model import AuthorizationCode, DeviceRequest, Grant, NewTokens, Program


class RegisteredPrograms(Protocol):
    """Keeps the programs that may ask to be let in."""

    def add_program(self, program: Program) -> None:
        """Register a program.

        Raises:
            AlreadyExists: there is one with this id.
        """

    def programs(self) -> list[Program]:
        """Return all programs, oldest first."""

    def program(self, program_id: str) -> Program | None:
        """Return the program with this id, ``None`` if there is none. MUST be up to date."""

    def unused_programs(self, before: int) -> list[str]:
        """Return the ids of programs that were registered before, and that nobody lets in."""

    def remove_program(self, program_id: str) -> None:
        """Delete a program with everything that it was granted; its tokens are refused.

        Raises:
            NotFound: there is no such program.
        """


class Grants(Protocol):
    """Keeps what users allow programs: codes, grants, refresh tokens, access tokens.

    What is exchanged for tokens MUST be good once, even if several try at the same moment. All
    methods that give tokens refuse a user who is disabled.
    """

    def add_code(self, code: AuthorizationCode) -> None:
        """Keep an authorization code.

        Expired ones MAY be deleted at any time, but those that were used stay for an hour.

        Raises:
            NotFound: there is no such user or program.
            Conflict: the user is disabled, or is ``system``.
        """

    def code(self, digest: bytes) -> AuthorizationCode | None:
        """Return a code, used or not, expired or not; ``None`` if it is unknown."""

    def use_code(self, digest: bytes, tokens: NewTokens, now: int, grace: int = 0) -> Grant | None:
        """Exchange a code for tokens.

        The grant, its refresh token and its access token are added in the same transaction. Of each
        user the newest ``GRANTS_OF_USER`` grants are kept. For ``grace`` milliseconds after that,
        the code may be used once more, and gives further tokens of the same grant, unless those it
        gave have been refreshed: then the program has got them.

        Returns:
            The grant; ``None`` if the code is not good at ``now``. If it was used too often, the
            grant that it gave is deleted, with all its tokens (RFC 6749, section 4.1.2).
        """

    def refreshed_grant(self, digest: bytes) -> Grant | None:
        """Return the grant of a refresh token, used or not; ``None`` if it is unknown."""

    def use_refresh_token(
        self, digest: bytes, tokens: NewTokens, now: int, grace: int
    ) -> Grant | None:
        """Exchange a refresh token for tokens.

        The first use counts as the use of every refresh token of the grant that was not used yet.
        For ``grace`` milliseconds after that, a token may be used again: programs send a request
        twice if its connection is lost.

        Returns:
            The grant; ``None`` if the token is not good at ``now``. If it was used too long ago,
            somebody has copied it: the grant is deleted, with all its tokens (RFC 9700, section
            4.14.2). It is, too, if it has ``REFRESH_TOKENS_OF_GRANT`` that have not expired.
        """

    def grants(self, user_id: int, now: int) -> list[Grant]:
        """Return the grants of a user that are good at ``now``, newest first."""

    def withdraw_grants(self, user_id: int, program_id: str) -> None:
        """Delete all grants of a user to a program, with all their tokens.

        What it has not exchanged yet goes, too: codes, and requests of devices.

        Raises:
            NotFound: there are none.
        """

    def revoke_program_token(self, digest: bytes, program_id: str) -> bool:
        """Revoke a token that this program got (RFC 7009): a refresh token with its whole grant.

        Returns:
            Whether there was such a token.
        """


class DeviceRequests(Protocol):
    """Keeps the requests of programs on devices without a browser (RFC 8628)."""

    def add_device_request(self, request: DeviceRequest, now: int) -> None:
        """Keep a request.

        Expired ones are deleted, and of the others the newest ``MOST_DEVICES`` are kept.

        Raises:
            NotFound: there is no such program.
            AlreadyExists: the user code is taken.
        """

    def device_request(self, user_code: str, now: int) -> DeviceRequest | None:
        """Return the request that is good at ``now`` and that nobody has decided on."""

    def decide_device_request(self, user_code: str, user_id: int, now: int, *, allow: bool) -> None:
        """Let a program in, or refuse it. MUST be possible once only.

        Raises:
            NotFound: there is no such request that waits at ``now``, or no such user.
            Conflict: the user is disabled, or is ``system``.
        """

    def poll_device_request(
        self, digest: bytes, now: int, interval: int
    ) -> tuple[DeviceRequest, bool] | None:
        """Return a request, and whether this comes within ``interval`` after the last poll.

        Returns:
            ``None`` if the request is unknown. An expired one MAY be unknown.
        """

    def use_device_request(self, digest: bytes, tokens: NewTokens, now: int) -> Grant | None:
        """Exchange a request that was allowed for tokens, as ``use_code`` does; it is deleted.

        Returns:
            The grant; ``None`` if the request is not good at ``now``, or not allowed.
        """


class Programs(RegisteredPrograms, Grants, DeviceRequests, Protocol):
    """All that programs take."""
