"""iThoughts: the habits of real files, each in its smallest form."""

import pytest

from mapshelf.errors import BrokenFile
from mapshelf.model import Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of

LIMITS = Limits()


def map_of(topics: str) -> bytes:
    text = (
        '<iThoughts version="4.0" app-version="7.4" author="iPad" modified="2024-01-02T00:00:00">'
        f"<topics>{topics}</topics></iThoughts>"
    )
    return archive_of({"mapdata.xml": text})


def test_topics_notes_links_and_facts() -> None:
    outline = read(
        map_of(
            '<topic uuid="u" text="r" note="# a&#10;b" link="http://x/"'
            ' created="2024-01-01T00:00:00"><topic att-name="photo.jpg"/></topic>'
            '<topic text="floating"/>'
        ),
        LIMITS,
    )
    assert outline.roots == (
        Topic(
            "r",
            "u",
            "# a\nb",
            links=("http://x/",),
            children=[Topic("", note="Attachment: photo.jpg")],
        ),
        Topic("floating"),
    )
    assert (outline.software_version, outline.author) == ("7.4", "")  # the name of a device
    assert (outline.created, outline.modified) == (1704067200000, 1704153600000)


def test_no_topics() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        read(map_of(""), LIMITS)
