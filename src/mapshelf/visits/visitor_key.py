"""Compute anonymous keys, so that each visitor counts once."""

from hashlib import blake2b
from typing import Final

from mapshelf.model import VisitKind

KEY_LENGTH: Final = 16  # bytes


def visitor_of(address: str, agent: bytes) -> bytes:
    """Return the data that distinguishes visitors: IP address and browser."""
    return address.encode() + b"\n" + agent


def visit_key(salt: bytes, visitor: bytes, file_id: int, kind: VisitKind, hour: int) -> bytes:
    """Return the key of a visit. Visits with the same key count once.

    The key covers the map and the hour, so keys of the same visitor cannot be linked. Without the
    salt, it does not identify the visitor.
    """
    facts = f"{kind.value}\n{file_id}\n{hour}\n".encode() + visitor
    return blake2b(facts, key=salt, digest_size=KEY_LENGTH).digest()
