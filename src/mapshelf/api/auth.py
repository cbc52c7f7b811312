"""Who is asking: from the Authorization header to a user.

Tokens are looked up in the store and remembered for less than a second, so that a revoked one is
refused within a second on every worker, while the store sees one look-up a second and token.
"""

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.errors import InvalidToken, StoreError
from mapshelf.model import User
from mapshelf.store import Store
from mapshelf.tokens import is_valid, is_well_formed, token_digest

REMEMBERED_FOR: Final = 0.9
"""Seconds for which the answer of the store is believed."""

REMEMBERED: Final = 10_000
"""Most tokens to remember."""

USE_NOTED_EVERY: Final = 60.0
"""Seconds between writes of when tokens were last used."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Remembered:
    user: User
    token_id: int
    until: float


def read_token(header: bytes | None) -> str:
    """Return the token in an Authorization header.

    The scheme is ``Bearer`` in any case; the bare token is accepted too, since a known desktop
    client sends it so.

    Raises:
        InvalidToken: there is none, or it cannot be one of ours.
    """
    if not header or not header.strip():
        raise InvalidToken(sent=False)
    scheme, _, rest = header.strip().decode("latin-1").partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" else header.strip().decode("latin-1")
    if not is_well_formed(token):
        raise InvalidToken(sent=bool(token))
    return token


class Authenticator:
    """Finds the user a request speaks for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._remembered: dict[bytes, _Remembered] = {}
        self._used: dict[int, int] = {}

    async def user(self, header: bytes | None) -> User:
        """Return the user whose token the Authorization ``header`` carries.

        Raises:
            InvalidToken: it carries no valid token.
            StoreUnavailable: the store cannot tell.
        """
        found = self._remembered.get(header) if header else None
        if found is None or found.until < time.monotonic():
            found = await self._look_up(header)
        self._used[found.token_id] = 0
        return found.user

    async def note_use(self) -> None:
        """Write down when tokens were used, once in a while, until cancelled."""
        while True:
            await asyncio.sleep(USE_NOTED_EVERY)
            await asyncio.get_running_loop().run_in_executor(None, self.write_use)

    def write_use(self) -> None:
        """Write down that the tokens seen since the last time were used."""
        used, self._used = self._used, {}
        if used:
            now = time.time_ns() // 1_000_000
            try:
                self._store.touch_tokens(dict.fromkeys(used, now))
            except StoreError as error:
                log.warning("the use of %d tokens was not noted: %s", len(used), error)

    async def _look_up(self, header: bytes | None) -> _Remembered:
        digest = token_digest(read_token(header))
        loop = asyncio.get_running_loop()
        # Counted from before the look-up, so that slow answers are not believed for longer.
        until = time.monotonic() + REMEMBERED_FOR
        credential = await loop.run_in_executor(None, self._store.find_credential, digest)
        if credential is None or not is_valid(credential, time.time_ns() // 1_000_000):
            raise InvalidToken(sent=True)
        found = _Remembered(credential.user, credential.token.id, until)
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()
        assert header is not None
        self._remembered[header] = found
        return found
