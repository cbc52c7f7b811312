"""Keys that count each visitor once, without telling who they are."""

from hashlib import blake2b
from typing import Final

from mapshelf.model import VisitKind

KEY_LENGTH: Final = 16  # bytes


def visitor_of(address: str, agent: bytes) -> bytes:
    """Return what distinguishes visitors: their address and their browser."""
    return address.encode() + b"\n" + agent


def visit_key(salt: bytes, visitor: bytes, file_id: int, kind: VisitKind, hour: int) -> bytes:
    """Return the key of a visit; visits with the same key count once.

    It includes the map and the hour, so that no two keys show that they are of the same visitor.
    Without the salt, nobody can find out who it was.
    """
    facts = f"{kind.value}\n{file_id}\n{hour}\n".encode() + visitor
    return blake2b(facts, key=salt, digest_size=KEY_LENGTH).digest()
