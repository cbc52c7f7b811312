"""Authenticate requests: from the Authorization header, or the cookie of a session, to a user.

A worker caches what the store knows about a token until the tokens version in the store changes
(``shared_answer.py``). The version is re-read after an interval that the store sets, so every
worker of every node soon rejects a revoked token. The cache contains only the digests of valid
tokens, and the headers that carried them. A session secret is a token with another prefix, so all
of this applies to sessions, too.

Anyone can send well-formed invalid tokens, which only the store can recognise. So pending tokens
are looked up together (``batching.py``), and refusals are delayed when there are many
(``throttle.py``).

If the store is unreachable, tokens that were valid within the last minute are still accepted, and
no token is rejected as invalid.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.api.batching import CredentialBatches
from mapshelf.api.shared_answer import Answer, SharedAnswer
from mapshelf.api.throttle import Throttle
from mapshelf.clock import milliseconds
from mapshelf.errors import InsufficientScope, InvalidToken, StoreError, StoreUnavailable
from mapshelf.metrics.counts import TaskCounts
from mapshelf.model import Credential, User
from mapshelf.plurals import noun
from mapshelf.store.contract import Credentials
from mapshelf.tokens import (
    ACCESS_PREFIX,
    PROXY_SESSION_PREFIX,
    SESSION_PREFIX,
    is_session_secret,
    is_valid,
    is_well_formed,
    scopes_of,
    token_digest,
)

TRUSTED_FOR: Final = 60.0
"""Seconds for which the last answer about a token holds if the store is unreachable."""

PATIENCE: Final = 1.0
"""Seconds to wait for the store if there is an earlier answer to fall back on."""

RETRIED_AFTER: Final = 0.5
"""Seconds between queries to a store that is unreachable."""

THREADS: Final = 2
"""Concurrent queries to the store: one for the version, one for tokens."""

MOST_LOOKUPS: Final = 4096
"""Maximum unknown tokens being looked up; beyond it, the store does not keep up, and requests
are rejected."""

RENEWED_AT: Final = 0.75
"""The share of its lifetime after which a tokens version is renewed in advance: otherwise all
requests would wait each time it expires."""

REFUSALS_PER_SECOND: Final = 200
"""Invalid tokens a second that are rejected without delay; also the burst after a pause."""

LONGEST_DELAY: Final = 2.0
"""Maximum delay of the rejection of an invalid token, in seconds."""

MOST_DELAYED_REFUSALS: Final = 4096
"""Maximum delayed rejections; further ones are sent immediately, because waiting uses memory."""

LONGEST_HEADER: Final = 512
"""Maximum bytes of an Authorization header; valid ones are far shorter."""

MOST_CACHED_TOKENS: Final = 10_000
"""Maximum cached tokens."""

USE_NOTED_EVERY: Final = 60.0
"""Seconds between updates of the last use of tokens in the store."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _CachedToken:
    """A cached answer of the store, and the tokens version from which on it is valid.

    Attributes:
        scopes: what the token allows.
        until: when (``time.monotonic``) it must be renewed.
    """

    credential: Credential
    scopes: frozenset[str]
    version: Answer
    until: float

    @property
    def user(self) -> User:
        return self.credential.user


def read_token(header: bytes) -> str:
    """Return the token in an Authorization header.

    The scheme ``Bearer`` is case-insensitive. A token without a scheme is accepted too, because a
    known desktop client sends it this way.

    Raises:
        InvalidToken: the token is missing or malformed.
    """
    text = header.decode("latin-1").strip()
    scheme, _, rest = text.partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" else text
    if not (is_well_formed(token) or is_well_formed(token, ACCESS_PREFIX)):
        raise InvalidToken(sent=bool(token))
    return token


class Authenticator:
    """Finds the user of a request."""

    def __init__(
        self,
        store: Credentials,
        note: Path,
        *,
        patience: float = PATIENCE,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create an authenticator.

        Args:
            store: where tokens are looked up.
            note: a file that all workers of the node share.
            patience: see ``PATIENCE``.
            now: returns the time in seconds.
        """
        self._store = store
        self._patience = patience
        self._now = now
        age = store.tokens_version_age
        self._shared_version = SharedAnswer(store.tokens_version, age, note, now)
        self._version = Answer("", -TRUSTED_FOR)
        self._version_query: asyncio.Future[Answer] | None = None
        self._renewal_begun = -TRUSTED_FOR  # when the last renewal started
        self._cached_tokens: dict[bytes, _CachedToken] = {}
        # Digests of valid tokens by header, which is short: computing a digest takes longer than
        # everything else that is done for a request with a known token.
        self._digests: dict[bytes, bytes] = {}
        self._used: dict[int, int] = {}
        self._token_queries: dict[bytes, asyncio.Task[_CachedToken]] = {}
        self._unknown_queries = 0
        self._threads = ThreadPoolExecutor(THREADS, "tokens")
        self._batches = CredentialBatches(store, self._threads)
        self._refusals = Throttle(REFUSALS_PER_SECOND, LONGEST_DELAY, MOST_DELAYED_REFUSALS)
        self._away_until = 0.0

    @property
    def lookups(self) -> TaskCounts:
        """The counters of token queries."""
        return self._batches.counts

    async def credential(self, header: bytes, scope: str) -> Credential:
        """Return the token in the Authorization ``header``, with its user.

        Raises:
            InvalidToken: the header has no valid token.
            InsufficientScope: the token does not have this scope.
            StoreUnavailable: the store cannot be reached.
        """
        try:
            if len(header) > LONGEST_HEADER:
                raise InvalidToken(sent=True)
            digest = self._digests.get(header) or self._digest(header)
            found = self._cached_tokens.get(digest)
            if found is None or found.until < self._now():
                found = await self._renewed(digest, found)
        except InvalidToken as error:
            if error.sent:
                await self._refusals.turn()
            raise
        self._used[found.credential.token.id] = 0
        if scope not in found.scopes:
            raise InsufficientScope(scope)
        return found.credential

    async def user(self, header: bytes, scope: str) -> User:
        """Return the user whose token is in the Authorization ``header``; see ``credential``."""
        return (await self.credential(header, scope)).user

    def allowed_user(self, header: bytes, scope: str) -> User | None:
        """Return the user of a token that is known to be valid now, and to have this scope.

        If this is ``None``, the token may still be valid: see ``user``.
        """
        found = self._cached_tokens.get(self._digests.get(header, b""))
        if found is None or found.until < self._now() or scope not in found.scopes:
            return None
        self._used[found.credential.token.id] = 0
        return found.user

    def known_user(self, header: bytes, secret: str) -> User | None:
        """Return the user of a token in a header, or of a session, as last read from the store."""
        digest = self._digests.get(header)
        if digest is None and is_session_secret(secret):
            digest = token_digest(secret)
        found = self._cached_tokens.get(digest or b"")
        if found is None or not is_valid(found.credential, milliseconds()):
            return None
        recent = found.until >= self._now() or found.version.value == self._version.value
        return found.user if recent else None

    async def session(self, secret: str) -> Credential:
        """Return the session with this secret; see ``credential_of_secret``."""
        by_proxy = secret.startswith(PROXY_SESSION_PREFIX)
        return await self.credential_of_secret(
            secret, PROXY_SESSION_PREFIX if by_proxy else SESSION_PREFIX
        )

    async def credential_of_secret(self, secret: str, prefix: str) -> Credential:
        """Return what is stored for a secret that is not an API token, with its user.

        Raises:
            InvalidToken: the secret does not have this prefix, or is no longer valid.
            StoreUnavailable: the store cannot be reached.
        """
        try:
            if not is_well_formed(secret, prefix):
                raise InvalidToken(sent=True)
            digest = token_digest(secret)
            found = self._cached_tokens.get(digest)
            if found is None or found.until < self._now():
                found = await self._renewed(digest, found)
        except InvalidToken:
            await self._refusals.turn()
            raise
        self._used[found.credential.token.id] = 0
        return found.credential

    async def note_use(self) -> None:
        """Record the last use of tokens at intervals, until cancelled."""
        while True:
            await asyncio.sleep(USE_NOTED_EVERY)
            await asyncio.get_running_loop().run_in_executor(None, self.write_use)

    def write_use(self) -> None:
        """Record in the store that the tokens seen since the last call were used."""
        used, self._used = self._used, {}
        if used:
            now = milliseconds()
            try:
                self._store.touch_tokens(dict.fromkeys(used, now))
            except StoreError as error:
                tokens = noun(len(used), "token")
                log.warning("the use of %d %s was not noted: %s", len(used), tokens, error)

    def _digest(self, header: bytes) -> bytes:
        """Return the digest of the token in ``header``; cache it if the token is valid."""
        digest = token_digest(read_token(header))
        if digest in self._cached_tokens:
            if len(self._digests) >= MOST_CACHED_TOKENS:
                del self._digests[next(iter(self._digests))]
            self._digests[header] = digest
        return digest

    async def _renewed(self, digest: bytes, known: _CachedToken | None) -> _CachedToken:
        """Return the current answer of the store, or ``known`` if the store is unreachable."""
        now = self._now()
        if known is not None and self._holds(known):
            self._renew_version()
            return self._cache_if_valid(digest, known.credential, self._version)
        if known is None or known.version.queried_at + TRUSTED_FOR < now:
            return await asyncio.shield(self._shared_query(digest, None))
        if now < self._away_until and digest not in self._token_queries:
            return _still_valid(known)
        try:
            query = self._shared_query(digest, known)
            if self._away_until:  # the look-up continues, and notices when the store is back
                return _still_valid(known)
            return await asyncio.wait_for(asyncio.shield(query), self._patience)
        except (TimeoutError, StoreUnavailable):
            self._away_until = self._now() + RETRIED_AFTER
            return _still_valid(known)

    def _shared_query(
        self, digest: bytes, known: _CachedToken | None
    ) -> "asyncio.Task[_CachedToken]":
        """Return the query for a token, which all requests that wait for this token share."""
        query = self._token_queries.get(digest)
        if query is None:
            # A flood of unknown tokens must not prevent known ones from being looked up.
            if known is None and self._unknown_queries >= MOST_LOOKUPS:
                raise StoreUnavailable("too many tokens are being looked up already")
            self._unknown_queries += known is None
            query = asyncio.create_task(self._query_token(digest, known))
            query.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._token_queries[digest] = query
        return query

    async def _query_token(self, digest: bytes, known: _CachedToken | None) -> _CachedToken:
        """Query the store for a token, unless ``known`` is still valid for the tokens version.

        Raises:
            InvalidToken: the token does not exist, or is no longer valid.
            StoreError: a query failed.
        """
        try:
            version = await self._current_version()
            # Compared even if it took long: it was read for this request.
            if known is not None and known.version.value == version.value:
                credential: Credential | None = known.credential
            else:
                credential, version = await self._batches.find(digest, version)
        except StoreError:
            if self._away_until:
                self._away_until = self._now() + RETRIED_AFTER
            raise
        finally:
            del self._token_queries[digest]
            self._unknown_queries -= known is None
        self._away_until = 0.0
        return self._cache_if_valid(digest, credential, version)

    def _cache_if_valid(
        self, digest: bytes, credential: Credential | None, version: Answer
    ) -> _CachedToken:
        """Check a token that was found in the store as of ``version``, and cache it.

        Raises:
            InvalidToken: the token does not exist, or is no longer valid.
        """
        self._cached_tokens.pop(digest, None)
        now = milliseconds()
        if credential is None or not is_valid(credential, now):
            raise InvalidToken(sent=True)
        if len(self._cached_tokens) >= MOST_CACHED_TOKENS:
            del self._cached_tokens[next(iter(self._cached_tokens))]  # the one renewed longest ago
        until, expires = version.queried_at + self._renewed_after, credential.token.expires
        if expires is not None:
            until = min(until, self._now() + (expires - now) / 1000)
        scopes = scopes_of(credential.token.scopes)
        found = self._cached_tokens[digest] = _CachedToken(credential, scopes, version, until)
        return found

    def _holds(self, known: _CachedToken) -> bool:
        """Return whether a cached answer is valid for the version known to this worker."""
        version = self._version
        fresh = version.queried_at + self._store.tokens_version_age >= self._now()
        return fresh and known.version.value == version.value

    async def _current_version(self) -> Answer:
        """Return the tokens version, read once for all requests that wait for it."""
        if self._version.queried_at + self._store.tokens_version_age >= self._now():
            return self._version
        return await asyncio.shield(
            self._version_query or self._read_version(self._store.tokens_version_age)
        )

    def _renew_version(self) -> None:
        """Renew the tokens version in advance; after a failure, wait before trying again."""
        now, after = self._now(), self._renewed_after
        if (
            self._version_query is None
            and max(self._version.queried_at, self._renewal_begun) + after < now
        ):
            self._renewal_begun = now
            self._read_version(after)

    @property
    def _renewed_after(self) -> float:
        return self._store.tokens_version_age * RENEWED_AT

    def _read_version(self, age: float) -> "asyncio.Future[Answer]":
        """Read a tokens version that is at most ``age`` seconds old, in a thread."""
        loop = asyncio.get_running_loop()
        query = loop.run_in_executor(self._threads, self._shared_version.current, age)
        self._version_query = query
        query.add_done_callback(self._keep_version)
        return query

    def _keep_version(self, query: "asyncio.Future[Answer]") -> None:
        """Use the tokens version that the query has read, if it has not failed."""
        self._version_query = None
        if not query.cancelled() and query.exception() is None:
            self._version = query.result()


def _still_valid(known: _CachedToken) -> _CachedToken:
    """Return ``known`` unless it has expired meanwhile, which needs no query.

    Raises:
        InvalidToken: it has expired.
    """
    if not is_valid(known.credential, milliseconds()):
        raise InvalidToken(sent=True)
    return known
