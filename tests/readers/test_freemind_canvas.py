"""FreeMind and Freeplane: what these programs show on the canvas, and its position."""

import pytest

from mapshelf.model import Outline, Relationship, Sheet, Topic, TopicKind
from mapshelf.readers import Limits, read
from tests.readers.samples import freemind

FREE = '<hook NAME="FreeNode"/>'


def outline_of(nodes: str) -> Outline:
    return read(freemind(nodes, "freeplane 1.9.8"), Limits())


def sheet_of(nodes: str) -> Sheet:
    return outline_of(nodes).sheets[0]


def topics_of(nodes: str) -> dict[str, Topic]:
    return {topic.text: topic for _, topic in outline_of(nodes).topics()}


def numbers_of(nodes: str) -> dict[str, str]:
    return {name: topic.number for name, topic in topics_of(nodes).items() if topic.number}


# -- numbers --------------------------------------------------------------------------------------


def test_numbers_count_siblings_and_extend_the_number_of_the_parent() -> None:
    numbers = numbers_of(
        '<node TEXT="r" NUMBERED="true"><node TEXT="a" NUMBERED="true">'
        '<node TEXT="b"/><node TEXT="c" NUMBERED="true"/><node TEXT="d" NUMBERED="true"/></node>'
        '<node TEXT="e"><node TEXT="f" NUMBERED="true"/></node>'
        '<node TEXT="g" NUMBERED="true"/></node>'
    )
    assert numbers == {"a": "1", "c": "1.1", "d": "1.2", "f": "1", "g": "2"}


def test_styles_number_topics_too() -> None:
    styles = (
        '<hook NAME="MapStyle"><map_styles><stylenode LOCALIZED_TEXT="default" NUMBERED="true"/>'
        '<stylenode TEXT="Plain" NUMBERED="false"/></map_styles></hook>'
    )
    numbers = numbers_of(
        f'<node TEXT="r">{styles}<node TEXT="a" STYLE_REF="Plain"/><node TEXT="b"/>'
        '<node TEXT="c" STYLE_REF="Plain" NUMBERED="true"/></node>'
    )
    assert numbers == {"b": "1", "c": "2"}


def test_topics_in_a_summary_are_numbered_as_if_there_were_no_brace() -> None:
    numbers = numbers_of(
        '<node TEXT="r"><node TEXT="a" NUMBERED="true"><node TEXT="b"/><node TEXT="">'
        '<hook NAME="SummaryNode"/><node TEXT="sum" NUMBERED="true"/></node></node></node>'
    )
    assert numbers == {"a": "1", "sum": "1.1"}


def test_numbers_of_deep_maps_stay_short() -> None:
    deep = 200
    nodes = '<node TEXT="r">' + '<node TEXT="{}" NUMBERED="true">' * deep + "</node>" * (deep + 1)
    found = [topic.number for _, topic in outline_of(nodes).topics()]
    assert found[:3] == ["", "1", "1.1"]
    assert max(map(len, found)) <= 60


# -- attributes and details -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("registry", "shown"),
    [
        ("", ("a", "b")),
        ("<attribute_registry/>", ("a", "b")),
        ('<attribute_registry SHOW_ATTRIBUTES="hide"/>', ()),
        (
            '<attribute_registry SHOW_ATTRIBUTES="selected"><attribute_name NAME="b"'
            ' VISIBLE="true"/><attribute_name NAME="a"/></attribute_registry>',
            ("b",),
        ),
    ],
)
def test_attributes_are_shown_unless_the_map_says_otherwise(
    registry: str, shown: tuple[str, ...]
) -> None:
    node = '<node TEXT="r"><attribute NAME="a" VALUE="1"/><attribute NAME="b" VALUE="2"/></node>'
    root = sheet_of(registry + node).root
    assert root.attributes == (("a", "1"), ("b", "2"))
    assert root.shown_attributes == shown


@pytest.mark.parametrize(
    ("look", "hidden", "details"),
    [("", "", "At hand"), ("", ' HIDDEN="true"', ""), (' TEXT_SHORTENED="true"', "", "")],
)
def test_details_are_the_part_of_the_note_that_is_shown(
    look: str, hidden: str, details: str
) -> None:
    root = sheet_of(
        f'<node TEXT="r"{look}><richcontent TYPE="DETAILS"{hidden}><html><body><p>At hand</p>'
        "</body></html></richcontent>"
        '<richcontent TYPE="NOTE"><html><body><p>Apart</p></body></html>'
        '</richcontent><attribute NAME="a" VALUE="1"/></node>'
    ).root
    assert root.note == "At hand\nApart"
    assert root.details == details
    assert root.shown_attributes == (() if look else ("a",))


# -- lines ----------------------------------------------------------------------------------------


def test_hidden_lines_are_hidden_below_too() -> None:
    styles = (
        '<hook NAME="MapStyle"><map_styles><stylenode TEXT="Bare"><edge STYLE="hide_edge"/>'
        "</stylenode></map_styles></hook>"
    )
    topics = topics_of(
        f'<node TEXT="r">{styles}<node TEXT="a"><edge STYLE="hide_edge" COLOR="#ff0000"/>'
        '<node TEXT="b"/><node TEXT="c"><edge STYLE="bezier"/><node TEXT="d"/></node></node>'
        '<node TEXT="e" STYLE_REF="Bare"/><node TEXT="f"/></node>'
    )
    hidden = {name for name, topic in topics.items() if topic.style and topic.style.line_hidden}
    assert hidden == {"a", "b", "e"}
    assert topics["a"].style
    assert topics["a"].style.line == "#ff0000"


# -- places ---------------------------------------------------------------------------------------


def test_a_callout_is_where_the_author_put_it_beside_its_parent() -> None:
    topics = topics_of(
        '<node TEXT="r"><node TEXT="same" POSITION="right">'
        f'<node TEXT="here" HGAP_QUANTITY="200 px" VSHIFT_QUANTITY="-75 pt">{FREE}</node></node>'
        '<node TEXT="four" POSITION="left"><node TEXT="same">'
        f'<node TEXT="left" HGAP="200" VSHIFT="30">{FREE}</node><node TEXT="near">{FREE}</node>'
        "</node></node></node>"
    )
    assert topics["here"].position == (200.0, -100.0)
    assert topics["left"].position == (-200.0, 30.0)
    assert topics["near"].position is None
    kinds = {name: topics[name].kind for name in ("here", "left", "near")}
    assert set(kinds.values()) == {TopicKind.CALLOUT}


def arrow_of(attributes: str, side: str = "right") -> Relationship:
    (arrow,) = sheet_of(
        f'<node ID="r" TEXT="r"><node ID="a" TEXT="a" POSITION="{side}"><arrowlink {attributes}/>'
        "</node></node>"
    ).relationships
    return arrow


def test_a_straight_arrow_to_its_own_topic_points_to_a_position() -> None:
    straight = 'SHAPE="LINE" DESTINATION="a" STARTINCLINATION="-61;17.5 px;"'
    assert arrow_of(straight).point == (-61.0, 17.5)
    assert arrow_of(straight, "left").point == (61.0, 17.5)
    assert arrow_of('DESTINATION="a" STARTINCLINATION="-61;17;"').point is None
    assert arrow_of(straight.replace('"a"', '"r"')).point is None
    assert arrow_of('SHAPE="LINE" DESTINATION="a" STARTINCLINATION="1e9;x"').point is None


@pytest.mark.parametrize(
    ("start", "end", "heads"),
    [
        ("None", "Default", "end"),
        ("NONE", "NONE", "none"),
        ("DEFAULT", "None", "start"),
        ("DEFAULT", "DEFAULT", "both"),
    ],
)
def test_arrows_have_the_heads_that_the_author_chose(start: str, end: str, heads: str) -> None:
    made = arrow_of(f'DESTINATION="r" STARTARROW="{start}" ENDARROW="{end}"')
    assert made.heads == heads
    assert arrow_of('DESTINATION="r"').heads == "end"
