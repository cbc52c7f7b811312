"""Assign every topic an id that is the same each time its file is read.

Links to a topic must survive the next import. A topic keeps the id from its file. If that is
missing or duplicate, the id is derived from the texts on the path from the root, so it does not
change when siblings are added or removed.
"""

import hashlib
from collections import Counter
from typing import Final

from mapshelf.model import Outline, Topic

_LENGTH: Final = 6
"""Size of a derived id in bytes: with 100,000 topics, ids collide in one of 50,000 files."""


def assign_topic_ids(outline: Outline) -> None:
    """Assign every topic of ``outline`` a unique id, in place."""
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
    """Return every topic with a digest of the texts on its path from the root."""
    found: list[tuple[Topic, bytes]] = []
    pending = [(list(outline.trees()), b"")]
    while pending:
        siblings, above = pending.pop()
        seen: Counter[str] = Counter()
        for topic in siblings:
            seen[topic.text] += 1
            words = f"{seen[topic.text]}\0{topic.text}".encode()
            path = hashlib.blake2b(above + words, digest_size=16).digest()
            found.append((topic, path))
            pending.append((topic.children, path))
    return found


def _unused(path: bytes, taken: set[str]) -> str:
    """Return an id derived from ``path``, or from its digest if that id is taken."""
    made = f"t{path[:_LENGTH].hex()}"
    while made in taken:
        path = hashlib.blake2b(path, digest_size=16).digest()
        made = f"t{path[:_LENGTH].hex()}"
    return made
