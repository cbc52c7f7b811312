"""Determines the client address of a request from the peer and ``X-Forwarded-For``."""

from collections.abc import Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, Protocol

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NETWORK_BITS: Final = 64
"""Leading bits of an IPv6 address that identify a connection; devices choose the others."""

MOST_PROXIES: Final = 20  # examined in X-Forwarded-For


class Sender(Protocol):
    """The sender of a request."""

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, empty if it is missing."""

    def address(self) -> str:
        """Return the address of the peer, with or without its port."""


def client_address(peer: str, forwarded: bytes, trusted: Sequence[Network]) -> str:
    """Return the address of the client, for IPv6 its network; empty if it is unknown.

    Args:
        peer: the address of the peer.
        forwarded: the X-Forwarded-For header. Each proxy appends the address of its client, so the
            last entry that is not a trusted proxy is the client. Earlier entries may be forged.
        trusted: the networks of trusted proxies.
    """
    found = _parsed(peer)
    hops = forwarded.decode("latin-1").rsplit(",", MOST_PROXIES) if trusted else []
    while found is not None and hops and _is_among(found, trusted):
        further = _parsed(hops.pop())
        if further is None:
            break
        found = further
    return "" if found is None else _counted_address(found)


def is_trusted(peer: str, trusted: Sequence[Network]) -> bool:
    """Return whether a peer is a trusted proxy."""
    found = _parsed(peer)
    return found is not None and _is_among(found, trusted)


def without_port(peer: str) -> str:
    """Return the address of a peer without its port, which differs between connections."""
    if peer.startswith("["):
        return peer[1:].partition("]")[0]
    return peer.partition(":")[0] if peer.count(":") == 1 else peer


def _parsed(text: str) -> Address | None:
    """Return the address in a text, without port and zone, ``None`` if it is invalid."""
    try:
        found = ip_address(without_port(text.strip()).partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _is_among(found: Address, networks: Sequence[Network]) -> bool:
    return any(found in network for network in networks)


def _counted_address(found: Address) -> str:
    if found.version == 4:
        return str(found)
    return str(ip_network((found, NETWORK_BITS), strict=False))
