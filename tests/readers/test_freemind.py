"""FreeMind and Freeplane: cases from real files, each as a minimal example."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import freemind

LIMITS = Limits()


def root_of(nodes: str) -> Topic:
    return read(freemind(nodes), LIMITS).roots[0]


def test_tree_ids_links_and_order() -> None:
    outline = read(
        freemind(
            '<node ID="ID_1" TEXT="Root"><edge/><node ID="a" TEXT="A" LINK="https://a.example/">'
            '<node TEXT="A1"/></node><node TEXT="B"/></node>'
        ),
        LIMITS,
    )
    assert outline.roots == (
        Topic(
            id="ID_1",
            text="Root",
            children=[
                Topic(id="a", text="A", links=("https://a.example/",), children=[Topic(text="A1")]),
                Topic(text="B"),
            ],
        ),
    )


def test_rich_text_is_the_topic() -> None:
    root = root_of(
        '<node><richcontent TYPE="NODE">\n<html><head><title>no</title><style>p {}</style>'
        "</head><body><p>\n  two   <b>words</b>\n</p><p>next<br/>line</p></body></html>"
        "</richcontent></node>"
    )
    assert root.text == "two words\nnext\nline"


def test_html_escaped_in_text() -> None:
    root = root_of(
        '<node TEXT="&lt;html&gt;&lt;body&gt;&lt;p&gt;a &amp;lt; b&lt;/p&gt;&lt;p&gt;c'
        '&lt;/body&gt;"/>'
    )
    assert root.text == "a < b\nc"


def test_text_that_only_mentions_html_stays() -> None:
    assert root_of('<node TEXT="&lt;htmlish&gt; and &lt;p&gt;"/>').text == "<htmlish> and <p>"


@pytest.mark.parametrize(
    ("key", "text"), [("new_mindmap", "New mind map"), ("some_other", "some other")]
)
def test_localized_root(key: str, text: str) -> None:
    assert root_of(f'<node LOCALIZED_TEXT="{key}"/>').text == text


def test_details_note_and_old_note_make_the_note() -> None:
    root = root_of(
        '<node TEXT="r">'
        '<richcontent TYPE="NOTE"><html><body><p>the note</p></body></html></richcontent>'
        '<richcontent TYPE="DETAILS" HIDDEN="true"><html><body>details</body></html></richcontent>'
        '<hook NAME="accessories/plugins/NodeNote.properties"><text>old\n  note</text></hook>'
        '<hook NAME="MapStyle"><text>no note</text></hook>'
        '<attribute NAME="price" VALUE="5"/>'
        "</node>"
    )
    assert root.note == "details\nthe note\nold\n  note"
    assert root.attributes == (("price", "5"),)


def test_plain_note_keeps_its_lines() -> None:
    root = root_of(
        '<node TEXT="r"><richcontent TYPE="NOTE" CONTENT-TYPE="plain/markdown"><text># A\n\n- b'
        "</text></richcontent></node>"
    )
    assert root.note == "# A\n\n- b"


def test_xml_note_is_html() -> None:
    root = root_of(
        '<node TEXT="r"><richcontent TYPE="NOTE" CONTENT-TYPE="xml/"><html><body><p>a</p>\n\n'
        "<p>b</p></body></html></richcontent></node>"
    )
    assert root.note == "a\nb"


def test_rich_text_goes_before_the_same_text_without_formatting() -> None:
    rich = '<richcontent TYPE="NODE"><html><body><p>a <b>b</b></p></body></html></richcontent>'
    root = root_of(f'<node TEXT="a b">{rich}</node>')
    assert (root.text, root.text_html) == ("a b", "a <b>b</b>")
    note = rich.replace("NODE", "NOTE")
    root = root_of(f'<node TEXT="plain">{note}</node>')
    assert (root.text, root.text_html, root.note) == ("plain", "", "a b")


def test_link_inside_rich_text_counts_unless_the_node_has_one() -> None:
    rich = '<richcontent TYPE="NODE"><html><a href="http://in/">x</a></html></richcontent>'
    assert root_of(f"<node>{rich}</node>").links == ("http://in/",)
    assert root_of(f'<node LINK="http://out/">{rich}</node>').links == ("http://out/", "http://in/")


def test_style_nodes_bookmarks_and_tags_are_no_topics() -> None:
    outline = read(
        freemind(
            '<bookmarks><bookmark nodeId="x" name="no"/></bookmarks><tags category_separator=":"/>'
            '<node TEXT="Root"><hook NAME="MapStyle"><map_styles>'
            '<stylenode LOCALIZED_TEXT="styles.root_node"><stylenode LOCALIZED_TEXT="default"/>'
            '</stylenode></map_styles></hook><node TEXT="only"/></node>',
            version="freeplane 1.12.1",
        ),
        LIMITS,
    )
    assert [topic.text for _, topic in outline.topics()] == ["Root", "only"]


def test_encrypted_node_is_a_topic_that_says_so() -> None:
    root = root_of('<node TEXT="secret" ENCRYPTED_CONTENT="q83v"/>')
    assert (root.text, root.children) == ("secret", [])
    assert root.note.startswith("Encrypted: ")
    assert "q83v" not in root.note


def test_rich_note_keeps_its_form() -> None:
    root = root_of(
        '<node TEXT="r"><richcontent TYPE="NOTE"><html><head><style>x</style></head><body>'
        '<p onclick="x()">the <b>note</b></p><script>x</script></body></html></richcontent>'
        '<attribute NAME="price" VALUE="5 &lt; 6"/></node>'
    )
    assert root.note == "the note"
    assert "<p>the <b>note</b></p>" in root.note_html
    assert "script" not in root.note_html
    assert "onclick" not in root.note_html


def test_tags_one_a_line() -> None:
    assert root_of('<node TEXT="r" TAGS="one&#xa;two::three"/>').tags == ("one", "two::three")


def test_map_dates_are_of_the_centre_and_the_last_edit() -> None:
    outline = read(
        freemind(
            '<node TEXT="r" CREATED="1704067200000" MODIFIED="1704067200001">'
            '<node TEXT="a" CREATED="1" MODIFIED="1704153600000"/><node TEXT="b" MODIFIED="x"/>'
            "</node>"
        ),
        LIMITS,
    )
    assert (outline.created, outline.modified) == (1704067200000, 1704153600000)
    assert read(freemind('<node TEXT="r"/>'), LIMITS).modified is None


def test_node_without_id_is_not_taken_for_an_original() -> None:
    rich = '<richcontent TYPE="NODE"><html>rich</html></richcontent>'
    assert root_of(f'<node>{rich}<node TEXT="plain"/></node>').text == "rich"


def test_clones_show_their_original() -> None:
    root = root_of(
        '<node TEXT="r"><node ID="2" CONTENT_ID="1"/><node ID="1" TEXT="original" LINK="l">'
        '<node TEXT="below"/></node><node ID="3" TREE_ID="1"/><node ID="4" TREE_ID="none"/></node>'
    )
    assert root.children == [
        Topic(id="2", text="original", links=("l",)),
        Topic(id="1", text="original", links=("l",), children=[Topic(text="below")]),
        Topic(id="3", text="original", links=("l",)),
        Topic(id="4", text=""),
    ]


@pytest.mark.parametrize(
    ("version", "comment", "expected"),
    [
        ("0.8.1", "", ("FreeMind", "0.8.1")),
        ("1.0.1", "download FreeMind from", ("FreeMind", "1.0.1")),
        ("freeplane 1.9.8", "", ("Freeplane", "1.9.8")),
        ("0.9.0", "software Freeplane from", ("Freeplane", "")),
        ("docear 1.1", "", ("Docear", "1.1")),
    ],
)
def test_software(version: str, comment: str, expected: tuple[str, str]) -> None:
    outline = read(freemind(f'<!--{comment}--><node TEXT="Freeplane"/>', version), LIMITS)
    assert (outline.software, outline.software_version) == expected


def test_undeclared_entities_and_stray_ampersands() -> None:
    root = root_of('<node TEXT="a&nbsp;b &eacute; Q&A &madeup; &amp; &lt;"/>')
    assert root.text == "a\xa0b é Q&A &madeup; & <"


def test_entities_stay_as_they_are_inside_cdata_and_comments() -> None:
    root = root_of(
        '<!-- &nbsp; --><node TEXT="&nbsp;x"><richcontent TYPE="NOTE" CONTENT-TYPE="plain/auto">'
        "<text><![CDATA[&nbsp;&eacute;]]></text></richcontent></node>"
    )
    assert root == Topic(text="x", note="&nbsp;&eacute;")


def test_emoji_written_as_surrogate_pairs() -> None:
    assert root_of('<node TEXT="&#xd83d;&#xde00; &#55357;&#56832; &#xd83d;"/>').text == "😀 😀"


def test_characters_xml_forbids_are_dropped() -> None:
    assert root_of('<node TEXT="a\x0bb&#0;c&#x1F;d&#xFFFF;e&#x110000;"/>').text == "abcde"


def test_blank_lines_before_the_declaration() -> None:
    data = b'\n\n<?xml version="1.0"?>' + freemind('<node TEXT="r"/>')
    assert read(data, LIMITS).roots[0].text == "r"


def test_map_of_wisemapping_is_not_taken_for_freemind() -> None:
    data = b'<map name="1" version="tango"><topic central="true" text="x" id="1"/></map>'
    assert read(data, LIMITS).software == "WiseMapping"


def test_an_html_image_map_is_refused() -> None:
    with pytest.raises(NotAMap):
        read(b'<map name="1" version="alpha"><area shape="rect"/></map>', LIMITS)


def test_map_without_topics() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        read(freemind(""), LIMITS)


def test_merge_conflict_is_named() -> None:
    nodes = '<node TEXT="a">\n<<<<<<< HEAD\n<node/>\n=======\n>>>>>>> other\n</node>'
    with pytest.raises(BrokenFile, match="merge conflict"):
        read(freemind(nodes), LIMITS)


def test_broken_xml_names_the_line() -> None:
    with pytest.raises(BrokenFile, match="line 3: mismatched tag"):
        read(freemind('<node TEXT="a">\n</map>'), LIMITS)
