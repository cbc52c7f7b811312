"""Freeplane itself opens our exports, if it is installed (Debian's 1.7.10)."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freeplane_check import FREEPLANE, differences, save_again
from mapshelf.model import Image, Outline, Topic, sheets_of
from mapshelf.readers import Limits, read
from mapshelf.writers import freemind
from tests.examples import examples
from tests.readers.illustrated import picture
from tests.writers.rich_outlines import rich_outlines

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FREEPLANE.is_dir() or shutil.which("java") is None, reason="needs Freeplane"
    ),
]


@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(rich_outlines(), min_size=30, max_size=30))
def test_freeplane_opens_exports_without_warnings_and_keeps_everything(
    outlines: list[Outline],
) -> None:
    exports = list(map(freemind.write, outlines))
    for export, saved in zip(exports, save_again(exports), strict=True):
        assert not saved.warns
        assert not list(differences(read(export, Limits()), read(saved.data, Limits())))


def test_freeplane_keeps_the_pictures_in_topics() -> None:
    data = {"a": picture("red", (40, 30)), "b": picture("blue", (8, 8))}
    branch = Topic(
        "b",
        "b",
        text_html="<i>b</i>",
        note="n",
        images=(Image("a", 80, 60), Image("b", 8, 8), Image("c", 9, 9)),
    )
    outline = Outline(sheets_of((Topic("r", "r", children=[branch], images=(Image("b", 4, 4),)),)))
    export = freemind.write(outline, data)
    (saved,) = save_again([export])
    assert not saved.warns
    again = read(saved.data, Limits())
    assert not list(differences(read(export, Limits()), again))
    sizes = [(image.width, image.height) for _, topic in again.topics() for image in topic.images]
    assert sizes == [(4, 4), (80, 60), (8, 8)]
    assert [topic.note for _, topic in again.topics()] == ["", "n"]


def test_freeplane_warnings_are_noticed() -> None:
    export = b'<map version="1.0.1">\n<node TEXT="a"/></map>'
    with pytest.raises(AssertionError):
        assert not save_again([export])[0].warns
