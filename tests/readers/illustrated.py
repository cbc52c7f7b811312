"""A format for tests of pictures: each line is a topic with a picture.

    %pictures
    beside Pictures/a.png
    within iVBORw0KGgo…            in Base64

The text of a topic is the line's second word.
"""

import base64
import io

from PIL import Image

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers import READERS, Reader
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.topic_tree import grow

START = b"%pictures\n"


def _topic(content: Content, line: str) -> Topic:
    kind, _, word = line.partition(" ")
    if kind == "beside":
        return Topic(word, images=(content.images.add_beside(word),))
    return Topic("within", images=(content.images.add(base64.b64decode(word)),))


def _read(content: Content) -> Outline:
    def topic_of(line: str) -> Topic:
        return _topic(content, line) if line else Topic("root")

    def children_of(line: str) -> list[str]:
        return [] if line else content.text.splitlines()[1:]

    return Outline(sheets_of(grow([""], topic_of, children_of, content.limits)))


def illustrated_readers() -> tuple[Reader, ...]:
    """Return the table of readers, with the reader for this format first."""

    def sniff(content: Content) -> bool:
        return content.data.startswith(START)

    return (Reader("illustrated", (), sniff, _read), *READERS)


def illustrated(*lines: str) -> bytes:
    """Return a file with these lines."""
    return START + "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")


def within(data: bytes) -> str:
    """Return the line for a topic that contains the picture ``data``."""
    return f"within {base64.b64encode(data).decode()}"


def picture(colour: str = "red", size: tuple[int, int] = (4, 3), kind: str = "PNG") -> bytes:
    """Return a picture with a single colour."""
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, kind)
    return buffer.getvalue()
