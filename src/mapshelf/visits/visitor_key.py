"""Who a visitor is, as far as is needed to count everybody once, and not a bit further."""

from collections.abc import Sequence
from hashlib import blake2b
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

from mapshelf.model import VisitKind

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

HOUSEHOLD: Final = 64
"""Bits of an IPv6 address that tell one connection from another: a device makes up the rest."""

MOST_PROXIES: Final = 20
"""Proxies a request is believed to have come through."""

KEY_LENGTH: Final = 16
"""Bytes of a key."""


def visitor_of(place: str, agent: bytes) -> bytes:
    """Return what tells a visitor from others: where he is, and what he looks with."""
    return place.encode() + b"\n" + agent


def visit_key(salt: bytes, visitor: bytes, file_id: int, kind: VisitKind, hour: int) -> bytes:
    """Return what tells a visit from all others that count.

    The map and the hour are part of it, so that two keys never show that they are of one visitor.
    Without the salt, nobody can find out whose one is.
    """
    told = f"{kind.value}\n{file_id}\n{hour}\n".encode() + visitor
    return blake2b(told, key=salt, digest_size=KEY_LENGTH).digest()


def place_of(peer: str, forwarded: bytes, trusted: Sequence[Network]) -> str:
    """Return the address or network a request came from, empty if that cannot be told.

    Args:
        peer: the address at the other end of the connection.
        forwarded: X-Forwarded-For, to which every proxy appends whom it was asked by. So the last
            entry that is no trusted proxy is the client; what stands before it anybody may have
            written.
        trusted: the networks of proxies that are believed.
    """
    found = _parsed(peer)
    hops = forwarded.decode("latin-1").rsplit(",", MOST_PROXIES) if trusted else []
    while found is not None and hops and _is_among(found, trusted):
        further = _parsed(hops.pop())
        if further is None:
            break
        found = further
    return "" if found is None else _place(found)


def _parsed(text: str) -> Address | None:
    """Return the address in a text, without port and zone, ``None`` if there is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _is_among(found: Address, networks: Sequence[Network]) -> bool:
    return any(found in network for network in networks)


def _place(found: Address) -> str:
    if found.version == 4:
        return str(found)
    return str(ip_network((found, HOUSEHOLD), strict=False))
