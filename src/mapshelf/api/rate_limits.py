"""Rate limits on the requests of a client, by kind of request.

Each limit is a token bucket, implemented by the "generic cell rate algorithm", which stores one
timestamp for each client: when its bucket will be full again. So a client that has used up its
requests waits for the next one, not for the end of a minute.

API requests with a valid token are counted by token. All others, including those with invalid
tokens, are counted by the address of the client, for IPv6 by its network.

API responses report the remaining requests, as in version 11 of
https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/. Pages do not: browsers
ignore these headers, and caches would send them to other clients.
"""

from time import monotonic_ns
from typing import Final

from mapshelf.api.context import address_of
from mapshelf.api.http import Request
from mapshelf.api.rate_table import RateTable
from mapshelf.client_address import Sender, without_port
from mapshelf.errors import TooManyRequests
from mapshelf.model.time_units import NANOSECONDS_PER_SECOND
from mapshelf.settings import Budget, RateLimit, Settings

MOST_KEYS: Final = 4096
"""Most client keys that a worker caches for each limit; when the cache is full, it is cleared."""

LONGEST_FORWARDED: Final = 256
"""Longest ``X-Forwarded-For`` in bytes for which a key is cached: a client behind a proxy can send
kilobytes, different each time."""

Key = tuple[int, int]
"""The key of a client in the table."""


class Limit:
    """One rate limit.

    Attributes:
        budget: the kind of requests it limits.
        name: distinguishes its keys from those of other limits.
        by_token: whether requests are counted by token; then responses report the state.
        header: the name of the header that reports the state.
        interval: nanoseconds until one more request is possible.
        window: nanoseconds until the bucket refills completely.
        policy: the header that describes the limit.
        keys: cached keys of clients.
        refused: the number of refused requests.
    """

    __slots__ = (
        "budget",
        "by_token",
        "header",
        "interval",
        "keys",
        "name",
        "policy",
        "refused",
        "window",
    )

    def __init__(self, budget: Budget, limit: RateLimit) -> None:
        self.budget = budget.value
        # The values are part of the name, so that a changed limit starts with empty counts.
        self.name = f"{budget.value} {limit.requests}/{limit.seconds} ".encode()
        self.by_token = budget is Budget.API
        self.interval = max(1, limit.seconds * NANOSECONDS_PER_SECOND // limit.requests)
        self.window = self.interval * limit.requests
        self.header = b'"%s";r=%%d;t=%%d' % budget.value.encode()
        policy = f'"{budget.value}";q={limit.requests};w={limit.seconds}'
        self.policy = (b"ratelimit-policy", policy.encode())
        self.keys: dict[int | str | tuple[str, bytes], Key] = {}
        self.refused = 0


class RateLimits:
    """Counts the requests of clients.

    Attributes:
        limits: the configured limits.
    """

    def __init__(self, settings: Settings) -> None:
        """Use the limits in ``settings``."""
        self._trusted = settings.trusted_proxies
        self._table = RateTable(settings.rates) if settings.rate_limits else None
        self.limits = {
            budget: Limit(budget, limit) for budget, limit in settings.rate_limits.items()
        }

    def refused(self) -> dict[str, int]:
        """Return the number of refused requests by budget."""
        return {limit.budget: limit.refused for limit in self.limits.values()}

    def count(self, limit: Limit, request: Request) -> None:
        """Count a request, and report the limit's state in its response.

        Raises:
            TooManyRequests: the client exceeded the limit.
        """
        token = request.token if limit.by_token else 0
        key = limit.keys.get(token) if token else self._by_address(limit, request.sender)
        if key is None:
            key = self._remember(limit, token, b"token %d" % token)
        table, now, window = self._table, monotonic_ns(), limit.window
        assert table is not None, "there are limits"
        # When the bucket is full again. A time too far in the future is from before a reboot:
        # the clock restarts with the machine.
        place, full = table.find(key)
        if not now < full <= now + window:
            full = now
        full += limit.interval
        left = now + window - full
        if left < 0:
            _refuse(limit, -left, request)
        table.set(key, place, full)
        if limit.by_token:
            seconds = -(-(full - now) // NANOSECONDS_PER_SECOND)
            told = limit.header % (left // limit.interval, seconds)
            request.limited = (b"ratelimit", told), limit.policy

    def close(self) -> None:
        """Close the table."""
        if self._table is not None:
            self._table.close()

    def _by_address(self, limit: Limit, sender: Sender) -> Key:
        peer = without_port(sender.address())
        known: str | tuple[str, bytes] = peer
        if self._trusted:
            known = peer, sender.header(b"x-forwarded-for")
        key = limit.keys.get(known)
        if key is None:
            name = b"address " + address_of(self._trusted, sender).encode()
            if isinstance(known, tuple) and len(known[1]) > LONGEST_FORWARDED:
                return self._key(limit, name)
            key = self._remember(limit, known, name)
        return key

    def _remember(self, limit: Limit, known: int | str | tuple[str, bytes], name: bytes) -> Key:
        if len(limit.keys) >= MOST_KEYS:
            limit.keys.clear()
        key = limit.keys[known] = self._key(limit, name)
        return key

    def _key(self, limit: Limit, name: bytes) -> Key:
        assert self._table is not None, "there are limits"
        return self._table.key(limit.name + name)


def _refuse(limit: Limit, missing: int, request: Request) -> None:
    """Refuse a request that is possible in ``missing`` nanoseconds.

    Raises:
        TooManyRequests: always.
    """
    seconds = max(1, -(-missing // NANOSECONDS_PER_SECOND))
    request.limited = (b"ratelimit", limit.header % (0, seconds)), limit.policy
    limit.refused += 1
    raise TooManyRequests(seconds)
