"""Anonymous keys for counting each visitor once."""

from hashlib import blake2b
from typing import Final

from mapshelf.model import VisitKind

KEY_LENGTH: Final = 16  # bytes


def visitor_of(address: str, agent: bytes) -> bytes:
    """Return what distinguishes visitors: their address and their browser."""
    return address.encode() + b"\n" + agent


def visit_key(salt: bytes, visitor: bytes, file_id: int, kind: VisitKind, hour: int) -> bytes:
    """Return the key of a visit; visits with the same key count once.

    The key includes the map and the hour, so that keys of the same visitor cannot be linked.
    Without the salt, the visitor cannot be identified.
    """
    facts = f"{kind.value}\n{file_id}\n{hour}\n".encode() + visitor
    return blake2b(facts, key=salt, digest_size=KEY_LENGTH).digest()
