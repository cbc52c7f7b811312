"""Whose work a request causes: that of its user, or of its address if nobody is signed in.

Owners take turns in the work queues (``work_queue.py``). A queue that is full must know the owner
before it accepts anything, so this asks no store: users are those that this worker has recognised
before, or while it checked the request. For all others, the address counts, as in rate limits.
"""

from collections.abc import Callable
from typing import Final

from mapshelf.api.browser_sessions import BrowserSessions
from mapshelf.api.http import Request
from mapshelf.client_address import Sender, without_port
from mapshelf.lru_cache import LRUCache

MOST_ADDRESSES: Final = 4096
"""Most addresses to remember: parsing one takes up to 30 microseconds, too long for a refusal."""

LONGEST_FORWARDED: Final = 256
"""Longest ``X-Forwarded-For`` in bytes to remember: clients can send kilobytes."""

Owner = int | str
"""The ID of a user, or the address of a client."""


class Owners:
    """Finds the owners of requests. Use it in the event loop only."""

    def __init__(self, sessions: BrowserSessions, address: Callable[[Sender], str]) -> None:
        """Use the users that ``sessions`` knows, and the addresses that ``address`` returns."""
        self._sessions = sessions
        self._address = address
        self._addresses: LRUCache[tuple[str, bytes], str] = LRUCache(MOST_ADDRESSES)

    def of(self, request: Request) -> Owner:
        """Return the owner of a request."""
        if request.user is not None:
            return request.user.id
        return self.of_sender(request.sender, request.headers.get(b"authorization", b""))

    def of_sender(self, sender: Sender, authorization: bytes) -> Owner:
        """Return the owner of a request that has not been read.

        Args:
            sender: the client.
            authorization: the Authorization header, empty if there is none.
        """
        user = self._sessions.known_user(sender, authorization)
        return self._address_of(sender) if user is None else user.id

    def _address_of(self, sender: Sender) -> str:
        known = without_port(sender.address()), sender.header(b"x-forwarded-for")
        address = self._addresses.get(known)
        if address is None:
            address = self._address(sender)
            if len(known[1]) <= LONGEST_FORWARDED:
                self._addresses.put(known, address)
        return address
