"""KityMinder and Naotu: cases from real files, each as a minimal example."""

import base64
import hashlib
import json

import pytest

from mapshelf.errors import NotAMap
from mapshelf.model import Image, Marker, Style, Task, Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import as_file, drawn

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
        Topic(
            "A",
            links=("http://x/",),
            markers=(Marker("priority-1", "priority 1"),),
            task=Task("started", progress=50),
        ),
        Topic("B", links=("http://y/",), tags=("one", "two")),
        Topic("C"),
    ],
)


def test_root_and_facts() -> None:
    file = {"root": ROOT, "template": "default", "theme": "fresh-blue", "version": "1.4.43"}
    outline = read(json.dumps(file).encode(), LIMITS)
    assert outline.roots == (EXPECTED,)
    assert (outline.software, outline.software_version) == ("KityMinder", "1.4.43")
    assert outline.created == 1704067200000


def test_oldest_files_have_the_root_at_the_top_level() -> None:
    assert read(json.dumps(ROOT).encode(), LIMITS).roots == (EXPECTED,)


def test_attachments_of_a_kityminder_topic() -> None:
    picture = as_file(drawn((40, 20)))
    data = {
        "text": "t",
        "image": f"data:image/png;base64,{base64.b64encode(picture).decode()}",
        "imageSize": {"width": 20, "height": "x"},
        "imageTitle": "a title",
        "background": "#ff0000",
        "color": "white",
        "font-weight": "bold",
        "expandState": "collapse",
        "progress": 9,
    }
    linked = {"text": "u", "image": "https://x/a.png", "expandState": "collapse", "progress": 1}
    root = {"data": data, "children": [{"data": linked}]}
    topic = read(json.dumps({"root": root}).encode(), LIMITS).roots[0]
    assert topic.images == (Image(hashlib.sha256(picture).hexdigest(), 20.0, 10.0, "a title"),)
    assert topic.style == Style(text="#ffffff", fill="#ff0000", bold=True)
    assert (topic.folded, topic.task) == (True, Task("done", progress=100))
    below = topic.children[0]
    assert below.images == (Image("", 0.0, 0.0, "https://x/a.png"),)
    assert (below.folded, below.task) == (False, Task("todo", progress=0))


@pytest.mark.parametrize(
    "text",
    [
        '{"root": {"data": {}}, "text": 1}',
        '{"root": 5, "data": "text", "text": ""}',
        '{"root": [{"data": {"text": "a"}}]}',
    ],
)
def test_other_json_with_the_same_keys_is_refused(text: str) -> None:
    with pytest.raises(NotAMap, match="JSON of another kind"):
        read(text.encode(), LIMITS)
