"""Map files of nearly the maximum size: one with many topics, one with many bytes."""

import io
import random
import zipfile
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import orjson

from benchmarks.catalogue import words_of

BRANCHES: Final = (33, 60, 49)
"""Children per topic on the first, second and third level below the root."""

MANY_TOPICS: Final = "The map of ninety-nine thousand topics"
MANY_BYTES: Final = "The map of twenty-four megabytes"
BYTES: Final = 24_000_000


def write_files(
    folder: Path, seed: int, branches: tuple[int, int, int] = BRANCHES, size: int = BYTES
) -> None:
    """Write both files, by default with 99,034 topics and of 24 MB."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "topics.mm").write_text(_many_topics(seed, branches), "utf-8")
    (folder / "bytes.xmind").write_bytes(_many_bytes(seed, size))


def _many_topics(seed: int, branches: tuple[int, int, int]) -> str:
    chance = random.Random(seed)
    words = words_of("Latin", seed)[:5000]
    lines = ['<map version="1.0.1">', f"<node TEXT={quoteattr(MANY_TOPICS)}>"]

    def opened(end: str) -> None:
        text = " ".join(chance.choices(words, k=4))
        lines.append(f'<node ID="ID_{len(lines)}" TEXT={quoteattr(text)}{end}>')

    first, second, third = branches
    for _ in range(first):
        opened("")
        for _ in range(second):
            opened("")
            for _ in range(third):
                opened("/")
            lines.append("</node>")
        lines.append("</node>")
    return "\n".join((*lines, "</node>", "</map>"))


def _many_bytes(seed: int, size: int) -> bytes:
    """Return an XMind file with a large attachment, which cannot be compressed."""
    topics = [{"id": "a", "title": "Attached", "href": "xap:resources/recording.bin"}]
    root = {"id": "root", "title": MANY_BYTES, "children": {"attached": topics}}
    sheets: list[dict[str, Any]] = [{"id": "sheet", "title": "Sheet", "rootTopic": root}]
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("content.json", orjson.dumps(sheets))
        archive.writestr("metadata.json", b"{}")
        archive.writestr("resources/recording.bin", random.Random(seed).randbytes(size))
    return written.getvalue()
