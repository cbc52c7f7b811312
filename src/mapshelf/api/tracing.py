"""Accepts ``X-Request-Id`` and ``traceparent`` from a trusted proxy.

They connect log lines of the proxy, of this service, and of others. Only proxies that the operator
trusts may set them: other clients could forge log entries. Even then, values must be well-formed.

``traceparent`` is defined by https://www.w3.org/TR/trace-context/.
"""

import re
from collections.abc import Sequence
from typing import Final

from mapshelf.client_address import Network, Sender, is_trusted, without_port
from mapshelf.lru_cache import LRUCache

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._:=+/@-]{1,128}")
_TRACEPARENT: Final = re.compile(
    rb"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}",
)

MOST_PEERS: Final = 1024
"""Most peers for which trust is cached."""


class CarriedNames:
    """Reads the request ids of proxies in ``trusted`` networks."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = trusted
        self._known: LRUCache[str, bool] = LRUCache(MOST_PEERS)

    def names(self, sender: Sender) -> tuple[str, bytes]:
        """Return the request id and the traceparent of a request, empty if missing."""
        if not self._trusts(sender.address()):
            return "", b""
        request_id = sender.header(b"x-request-id")
        traceparent = sender.header(b"traceparent")
        return (
            request_id.decode("ascii") if _REQUEST_ID.fullmatch(request_id) else "",
            traceparent if _TRACEPARENT.fullmatch(traceparent) else b"",
        )

    def _trusts(self, peer: str) -> bool:
        peer = without_port(peer)
        known = self._known.get(peer)
        if known is None:
            known = is_trusted(peer, self._trusted)
            self._known.put(peer, known)
        return known


def facts_of(request_id: str, traceparent: bytes) -> dict[str, str]:
    """Return the ids of a request for the log, without missing ones."""
    trace_id = traceparent[3:35].decode("ascii")
    facts = {"request_id": request_id, "trace_id": trace_id}
    return {name: text for name, text in facts.items() if text}
