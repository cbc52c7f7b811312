"""Who is asking: from the Authorization header to a user.

What the store says of a token is remembered, and holds as long as the version of the tokens in the
store stays the same (``tokens_version.py``). It is asked for again after a moment, which the store
names, so that a revoked token is refused soon on every worker of every node. Tokens are known by
their digests alone: what else a client puts into the header is neither kept nor counted.

Anybody can make up tokens that only the store can tell from real ones. So those that wait are
looked up together (``batching.py``), which costs the same for one and for hundreds, and whoever
keeps sending tokens that are none gets slower answers (``throttle.py``): neither the store nor
those who read notice much of it, and the first use of a new token waits for no stranger.

A store that cannot answer must not end all reading. A token that was valid within the last minute
is taken meanwhile, without waiting for the store once it is known to be away; no token is called
invalid because nobody can tell.
"""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.api.batching import CredentialBatches
from mapshelf.api.throttle import Throttle
from mapshelf.api.tokens_version import SharedTokensVersion, TokensVersion
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidToken, StoreError, StoreUnavailable
from mapshelf.model import Credential, User
from mapshelf.store.contract import Credentials
from mapshelf.tokens import is_valid, is_well_formed, token_digest

TRUSTED_FOR: Final = 60.0
"""Seconds for which it is believed when the store does not answer any more."""

PATIENCE: Final = 1.0
"""Seconds to wait for the store when there is an earlier answer to fall back on."""

RETRIED_AFTER: Final = 0.5
"""Seconds between questions to a store that is away."""

THREADS: Final = 2
"""Questions to the store at a time: one for the version, one for tokens."""

WAITING: Final = 4096
"""Most unknown tokens being looked up; more are turned away, since the store does not keep up."""

REFUSALS: Final = 200
"""Wrong tokens a second that are refused without delay, and as many more once in a while."""

LONGEST_DELAY: Final = 2.0
"""Most seconds for which the refusal of a wrong token is held back."""

DELAYED: Final = 4096
"""Most refusals held back at a time; more are sent at once, for holding them takes memory."""

LONGEST_HEADER: Final = 512
"""Bytes of an Authorization header; every valid one is far shorter."""

REMEMBERED: Final = 10_000
"""Most tokens to remember."""

USE_NOTED_EVERY: Final = 60.0
"""Seconds between writes of when tokens were last used."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """An answer of the store, and the version of the tokens since which it is true.

    Attributes:
        until: when (``time.monotonic``) that has to be asked for again.
    """

    credential: Credential
    version: TokensVersion
    until: float

    @property
    def user(self) -> User:
        return self.credential.user


def read_token(header: bytes) -> str:
    """Return the token in an Authorization header.

    The scheme is ``Bearer`` in any case; the bare token is accepted too, since a known desktop
    client sends it so.

    Raises:
        InvalidToken: there is none, or it cannot be one of ours.
    """
    text = header.decode("latin-1").strip()
    scheme, _, rest = text.partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" else text
    if not is_well_formed(token):
        raise InvalidToken(sent=bool(token))
    return token


class Authenticator:
    """Finds the user a request speaks for."""

    def __init__(self, store: Credentials, note: Path) -> None:
        """Prepare to ask ``store``; ``note`` is a file that all workers of the node share."""
        self._store = store
        self._shared_version = SharedTokensVersion(store, note)
        self._version = TokensVersion("", -TRUSTED_FOR)
        self._asking: asyncio.Future[TokensVersion] | None = None
        self._remembered: dict[bytes, _Remembered] = {}
        # Digests of valid tokens by the headers they came in, which are short: making a digest
        # takes longer than all else that is done for a request with a known token.
        self._digests: dict[bytes, bytes] = {}
        self._used: dict[int, int] = {}
        self._looking: dict[bytes, asyncio.Task[_Remembered]] = {}
        self._strangers = 0
        self._threads = ThreadPoolExecutor(THREADS, "tokens")
        self._batches = CredentialBatches(store, self._threads)
        self._refusals = Throttle(REFUSALS, LONGEST_DELAY, DELAYED)
        self._away_until = 0.0

    async def user(self, header: bytes | None) -> User:
        """Return the user whose token the Authorization ``header`` carries.

        Raises:
            InvalidToken: it carries no valid token.
            StoreUnavailable: the store cannot tell.
        """
        try:
            if header is None:
                raise InvalidToken(sent=False)
            if len(header) > LONGEST_HEADER:
                raise InvalidToken(sent=True)
            digest = self._digests.get(header) or self._digest(header)
            found = self._remembered.get(digest)
            if found is None or found.until < time.monotonic():
                found = await self._renewed(digest, found)
        except InvalidToken as error:
            if error.sent:
                await self._refusals.turn()
            raise
        self._used[found.credential.token.id] = 0
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
            now = milliseconds()
            try:
                self._store.touch_tokens(dict.fromkeys(used, now))
            except StoreError as error:
                log.warning("the use of %d tokens was not noted: %s", len(used), error)

    def _digest(self, header: bytes) -> bytes:
        """Return the digest of the token in ``header``, noted for the next time if it is known."""
        digest = token_digest(read_token(header))
        if digest in self._remembered:
            if len(self._digests) >= REMEMBERED:
                del self._digests[next(iter(self._digests))]
            self._digests[header] = digest
        return digest

    async def _renewed(self, digest: bytes, known: _Remembered | None) -> _Remembered:
        """Return what the store says now, or ``known`` if it cannot tell."""
        now = time.monotonic()
        if known is not None and self._holds(known):
            return self._remember(digest, known.credential, self._version)
        if known is None or known.version.asked + TRUSTED_FOR < now:
            return await asyncio.shield(self._look_up(digest, None))
        if now < self._away_until and digest not in self._looking:
            return _still_valid(known)
        try:
            looking = self._look_up(digest, known)
            if self._away_until:  # the look-up goes on, and tells when the store is back
                return _still_valid(known)
            return await asyncio.wait_for(asyncio.shield(looking), PATIENCE)
        except (TimeoutError, StoreUnavailable):
            self._away_until = time.monotonic() + RETRIED_AFTER
            return _still_valid(known)

    def _look_up(self, digest: bytes, known: _Remembered | None) -> "asyncio.Task[_Remembered]":
        """Ask the store, once for all requests that wait for the same token."""
        looking = self._looking.get(digest)
        if looking is None:
            # Anybody can make up tokens; that must not keep those we know from being looked up.
            if known is None and self._strangers >= WAITING:
                raise StoreUnavailable("too many tokens are being looked up already")
            self._strangers += known is None
            looking = asyncio.create_task(self._asked(digest, known))
            looking.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._looking[digest] = looking
        return looking

    async def _asked(self, digest: bytes, known: _Remembered | None) -> _Remembered:
        try:
            version = await self._current_version()
            if known is not None and self._holds(known):
                credential: Credential | None = known.credential
            else:
                credential, version = await self._batches.find(digest, version)
        except StoreError:
            if self._away_until:
                self._away_until = time.monotonic() + RETRIED_AFTER
            raise
        finally:
            del self._looking[digest]
            self._strangers -= known is None
        self._away_until = 0.0
        return self._remember(digest, credential, version)

    def _remember(
        self, digest: bytes, credential: Credential | None, version: TokensVersion
    ) -> _Remembered:
        """Remember what is true since ``version``.

        Raises:
            InvalidToken: the token is none, or not valid any more.
        """
        self._remembered.pop(digest, None)
        now = milliseconds()
        if credential is None or not is_valid(credential, now):
            raise InvalidToken(sent=True)
        if len(self._remembered) >= REMEMBERED:
            del self._remembered[next(iter(self._remembered))]  # that was renewed longest ago
        until, expires = version.asked + self._store.tokens_version_age, credential.token.expires
        if expires is not None:
            until = min(until, time.monotonic() + (expires - now) / 1000)
        found = self._remembered[digest] = _Remembered(credential, version, until)
        return found

    def _holds(self, known: _Remembered) -> bool:
        """Tell whether an answer is as true now as it was, by the version known here."""
        version = self._version
        fresh = version.asked + self._store.tokens_version_age >= time.monotonic()
        return fresh and known.version.value == version.value

    async def _current_version(self) -> TokensVersion:
        """Return the version of the tokens, asked for once by all requests that wait for it."""
        if self._version.asked + self._store.tokens_version_age >= time.monotonic():
            return self._version
        if self._asking is None:
            self._asking = asyncio.get_running_loop().run_in_executor(
                self._threads, self._shared_version.current
            )
            self._asking.add_done_callback(self._told)
        return await asyncio.shield(self._asking)

    def _told(self, asking: "asyncio.Future[TokensVersion]") -> None:
        self._asking = None
        if not asking.cancelled() and asking.exception() is None:
            self._version = asking.result()


def _still_valid(known: _Remembered) -> _Remembered:
    """Return ``known`` unless it has expired meanwhile, which takes no store to tell."""
    if not is_valid(known.credential, milliseconds()):
        raise InvalidToken(sent=True)
    return known
