"""Rate limits: how many requests a client may send, by what they are for.

A client has as many requests as its limit says, and gets them back one after the other: a token
bucket that needs one moment for each client, which is when it will have all of them again (the
"generic cell rate algorithm"). So who has used them up waits for the next one, not for the end of
a minute.

Requests to the API count for their token, if that is valid. All others count for the address of the
client, of IPv6 for its network: so do those with tokens that are not valid, whatever else slows
those down.

Responses of the API say what is left, by https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
(version 11). Others do not: browsers do not read it, and caches would give it to others.
"""

from time import monotonic_ns
from typing import Final

from mapshelf.api.context import address_of
from mapshelf.api.http import Request
from mapshelf.api.rate_table import RateTable
from mapshelf.client_address import Sender
from mapshelf.errors import TooManyRequests
from mapshelf.settings import Budget, RateLimit, Settings

SECOND: Final = 1_000_000_000
"""In nanoseconds."""

MOST_KEYS: Final = 4096
"""Clients whose keys a worker remembers for each limit; when there are more, all are forgotten."""

LONGEST_FORWARDED: Final = 256
"""Bytes of an ``X-Forwarded-For`` for which a key is remembered: a client behind a proxy can write
kilobytes into it, each time others."""

Key = tuple[int, int]
"""The key of a client in the table."""


class Limit:
    """One limit.

    Attributes:
        budget: what it is of.
        name: distinguishes its keys from those of others.
        by_token: whether tokens count; then responses say what is left.
        header: what they say.
        interval: nanoseconds in which one more request becomes possible.
        window: the same for all of them.
        policy: the header that says what the limit is.
        keys: those of clients.
        refused: how many requests were refused.
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
        # With the limit, so that nothing of it counts for another.
        self.name = f"{budget.value} {limit.requests}/{limit.seconds} ".encode()
        self.by_token = budget is Budget.API
        self.interval = max(1, limit.seconds * SECOND // limit.requests)
        self.window = self.interval * limit.requests
        self.header = b'"%s";r=%%d;t=%%d' % budget.value.encode()
        policy = f'"{budget.value}";q={limit.requests};w={limit.seconds}'
        self.policy = (b"ratelimit-policy", policy.encode())
        self.keys: dict[int | str | tuple[str, bytes], Key] = {}
        self.refused = 0


class RateLimits:
    """Counts the requests of clients.

    Attributes:
        limits: the limits there are.
    """

    def __init__(self, settings: Settings) -> None:
        """Count by the limits in ``settings``."""
        self._trusted = settings.trusted_proxies
        self._table = RateTable(settings.rates) if settings.rate_limits else None
        self.limits = {
            budget: Limit(budget, limit) for budget, limit in settings.rate_limits.items()
        }

    def refused(self) -> dict[str, int]:
        """Return how many requests were refused, by budget."""
        return {limit.budget: limit.refused for limit in self.limits.values()}

    def count(self, limit: Limit, request: Request) -> None:
        """Count a request, and have its response say what is left.

        Raises:
            TooManyRequests: there were too many before.
        """
        token = request.token if limit.by_token else 0
        key = limit.keys.get(token) if token else self._by_address(limit, request.sender)
        if key is None:
            key = self._remember(limit, token, b"token %d" % token)
        table, now, window = self._table, monotonic_ns(), limit.window
        assert table is not None, "there are limits"
        # When the client has all of its requests again. What is further away is from another
        # time: the clock begins anew with the machine.
        place, full = table.find(key)
        if not now < full <= now + window:
            full = now
        full += limit.interval
        left = now + window - full
        if left < 0:
            _refuse(limit, -left, request)
        table.set(key, place, full)
        if limit.by_token:
            told = limit.header % (left // limit.interval, -(-(full - now) // SECOND))
            request.limited = (b"ratelimit", told), limit.policy

    def close(self) -> None:
        """Let go of the table."""
        if self._table is not None:
            self._table.close()

    def _by_address(self, limit: Limit, sender: Sender) -> Key:
        peer = _without_port(sender.address())
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
    """Refuse a request that is possible in so many nanoseconds.

    Raises:
        TooManyRequests: always.
    """
    seconds = max(1, -(-missing // SECOND))
    request.limited = (b"ratelimit", limit.header % (0, seconds)), limit.policy
    limit.refused += 1
    raise TooManyRequests(seconds)


def _without_port(peer: str) -> str:
    """Return the address of a peer: its port is another for each connection."""
    if peer.count(":") == 1 or peer.startswith("["):
        return peer.rpartition(":")[0]
    return peer
