"""An id for every topic, the same each time its file is read.

Links to a topic must survive the next import. A topic keeps the id its file gives it; where the
file gives none, or the same one twice, the id is made from the words on the way from the root, so
that it stays while its siblings come and go.
"""

import hashlib
from collections import Counter
from typing import Final

from mapshelf.model import Outline, Topic

_LENGTH: Final = 6
"""Bytes of a made id: with a hundred thousand topics, one in fifty thousand files has a clash."""


def identify(outline: Outline) -> None:
    """Give every topic of ``outline`` an id of its own, in place."""
    taken: set[str] = set()
    topics = list(_with_paths(outline))
    for topic, _ in topics:
        if topic.id in taken:
            topic.id = ""
        elif topic.id:
            taken.add(topic.id)
    for topic, path in topics:
        if not topic.id:
            topic.id = _unused(path, taken)
            taken.add(topic.id)


def _with_paths(outline: Outline) -> list[tuple[Topic, bytes]]:
    """Return every topic with a digest of the words that lead to it."""
    found: list[tuple[Topic, bytes]] = []
    pending = [(list(outline.roots), b"")]
    while pending:
        siblings, above = pending.pop()
        said: Counter[str] = Counter()
        for topic in siblings:
            said[topic.text] += 1
            words = f"{said[topic.text]}\0{topic.text}".encode()
            path = hashlib.blake2b(above + words, digest_size=16).digest()
            found.append((topic, path))
            pending.append((topic.children, path))
    return found


def _unused(path: bytes, taken: set[str]) -> str:
    """Return an id made from ``path``; from its digest, should another topic have that one."""
    made = f"t{path[:_LENGTH].hex()}"
    while made in taken:
        path = hashlib.blake2b(path, digest_size=16).digest()
        made = f"t{path[:_LENGTH].hex()}"
    return made
