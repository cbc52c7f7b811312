"""NovaMind: the habits of the one real file we have, in their smallest form."""

import pytest

from mapshelf.errors import BrokenFile
from mapshelf.model import Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of

LIMITS = Limits()
META = (
    '<meta><created timestamp="2024-01-01T00:00:00.0000000+00:00"/><last-saved'
    ' timestamp="2024-01-02T00:00:00Z"><application name="NovaMind" version="6.0.5"/></last-saved>'
    "</meta>"
)
CONTENT = """<document title="t" description="all of it"><maps><map>
<topic-node id="n0" topic-ref="a"><topic-node-view/><sub-topics><topic-node topic-ref="b"/>
<topic-node topic-ref="missing"/></sub-topics></topic-node>
<link-lines><topic-node topic-ref="c"/></link-lines></map></maps><topics>
<topic id="a"><rich-text>
  <text-run>one<br />two </text-run>
  <hyperlink url="http://x/"><text-run>three</text-run></hyperlink>
</rich-text><notes><rich-text><text-run>a note</text-run></rich-text></notes></topic>
<topic id="b"><rich-text><text-run>B</text-run></rich-text></topic>
<topic id="c"><rich-text><text-run>on the line</text-run></rich-text></topic></topics></document>"""


def test_tree_and_topics_are_joined() -> None:
    outline = read(archive_of({"content.xml": CONTENT, "meta.xml": META}), LIMITS)
    assert outline.roots == (
        Topic(
            "one\ntwo three",
            "n0",
            "a note\nall of it",
            links=("http://x/",),
            children=[Topic("B"), Topic(""), Topic("on the line")],
        ),
    )
    assert (outline.software, outline.software_version) == ("NovaMind", "6.0.5")
    assert (outline.created, outline.modified) == (1704067200000, 1704153600000)


@pytest.mark.parametrize("members", [{}, {"meta.xml": "<meta"}, {"meta.xml": "<meta/>"}])
def test_broken_metadata_does_not_lose_the_map(members: dict[str, str | bytes]) -> None:
    outline = read(archive_of({"content.xml": CONTENT, **members}), LIMITS)
    assert (len(outline.roots[0].children), outline.software_version) == (3, "")


def test_no_map() -> None:
    content = "<document><maps/><topics><!--<topic-node--></topics></document>"
    with pytest.raises(BrokenFile, match="no topics"):
        read(archive_of({"content.xml": content}), LIMITS)
