"""KityMinder and Naotu: the habits of real files, each in its smallest form."""

import json

import pytest

from mapshelf.errors import NotAMap
from mapshelf.model import Topic
from mapshelf.readers import Limits, read

LIMITS = Limits()
ROOT = {
    "data": {"id": "i", "text": "根", "created": 1704067200000, "note": "# a\nb"},
    "children": [
        {"data": {"text": "A", "hyperlink": "http://x/", "priority": 1, "progress": 5}},
        {"data": {"text": "B", "resource": ["one", "two"], "hyperlink": {"url": "http://y/"}}},
        None,
        {"data": {"text": "C", "progress": 99, "priority": 0}, "children": None},
    ],
}
EXPECTED = Topic(
    "根",
    "i",
    "# a\nb",
    children=[
        Topic("A", note="Priority: 1\nProgress: 4/8", links=("http://x/",)),
        Topic("B", note="Labels: one, two", links=("http://y/",)),
        Topic("C"),
    ],
)


def test_root_and_facts() -> None:
    file = {"root": ROOT, "template": "default", "theme": "fresh-blue", "version": "1.4.43"}
    outline = read(json.dumps(file).encode(), LIMITS)
    assert outline.roots == (EXPECTED,)
    assert (outline.software, outline.software_version) == ("KityMinder", "1.4.43")
    assert outline.created == 1704067200000


def test_oldest_files_are_the_root_themselves() -> None:
    assert read(json.dumps(ROOT).encode(), LIMITS).roots == (EXPECTED,)


@pytest.mark.parametrize(
    "text",
    [
        '{"root": {"data": {}}, "text": 1}',
        '{"root": 5, "data": "text", "text": ""}',
        '{"root": [{"data": {"text": "a"}}]}',
    ],
)
def test_json_that_uses_the_same_words(text: str) -> None:
    with pytest.raises(NotAMap, match="JSON of another kind"):
        read(text.encode(), LIMITS)
