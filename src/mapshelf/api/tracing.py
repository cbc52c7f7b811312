"""The names that a request already has: ``X-Request-Id`` and ``traceparent`` of a trusted proxy.

With them, lines in the logs of the proxy, of us and of what else was asked can be found together.
Only a proxy that the operator trusts is believed: others could have us write what they like into
the log. Even of such a proxy, only what is well-formed is taken.

``traceparent`` is that of https://www.w3.org/TR/trace-context/.
"""

import re
from collections.abc import Sequence
from typing import Final

from mapshelf.client_address import Network, Sender, is_trusted

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._:=+/@-]{1,128}")
_TRACEPARENT: Final = re.compile(
    rb"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}",
)

MOST_PEERS: Final = 1024
"""Peers that are remembered as trusted or not; when there are more, all are forgotten."""


class CarriedNames:
    """Takes the names of requests that come from ``trusted`` networks."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = trusted
        self._known: dict[str, bool] = {}

    def names(self, sender: Sender) -> tuple[str, bytes]:
        """Return the request id and the traceparent of a request, empty if it has none."""
        if not self._trusts(sender.address()):
            return "", b""
        request_id = sender.header(b"x-request-id")
        traceparent = sender.header(b"traceparent")
        return (
            request_id.decode("ascii") if _REQUEST_ID.fullmatch(request_id) else "",
            traceparent if _TRACEPARENT.fullmatch(traceparent) else b"",
        )

    def _trusts(self, peer: str) -> bool:
        # A peer may come with its port, which is another for each connection.
        if peer.count(":") == 1 or peer.startswith("["):
            peer = peer.rpartition(":")[0]
        known = self._known.get(peer)
        if known is None:
            if len(self._known) >= MOST_PEERS:
                self._known.clear()
            known = self._known[peer] = is_trusted(peer, self._trusted)
        return known


def facts_of(request_id: str, traceparent: bytes) -> dict[str, str]:
    """Return the names of a request as the log has them, those that it lacks left out."""
    trace_id = traceparent[3:35].decode("ascii")
    facts = {"request_id": request_id, "trace_id": trace_id}
    return {name: text for name, text in facts.items() if text}
