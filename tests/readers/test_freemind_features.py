"""FreeMind and Freeplane: everything in maps besides text, each in a minimal example."""

import base64
import hashlib

import pytest

from mapshelf.model import (
    Boundary,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.readers import Limits, read
from mapshelf.readers.formats import freemind as reader
from mapshelf.readers.parsing.content import Content
from tests.readers.samples import as_file, drawn, freemind

LIMITS = Limits()
PICTURE = as_file(drawn((40, 20)))
DIGEST = hashlib.sha256(PICTURE).hexdigest()

STYLES = (
    '<hook NAME="MapStyle" background="#112233"><map_styles><stylenode TEXT="styles.root_node">'
    '<stylenode LOCALIZED_TEXT="default" COLOR="#000000"><icon BUILTIN="bell"/></stylenode>'
    '<stylenode TEXT="Key" COLOR="#996600" STYLE="oval"><icon BUILTIN="password"/>'
    '<font BOLD="true" SIZE="9"/><cloud COLOR="#ffffcc"/></stylenode>'
    '<stylenode LOCALIZED_TEXT="AutomaticLayout.level.root" COLOR="#0000aa"/>'
    '<stylenode LOCALIZED_TEXT="AutomaticLayout.level,1" COLOR="#00aa00"/>'
    "</stylenode></map_styles></hook>"
)


def outline_of(nodes: str) -> Outline:
    return read(freemind(nodes, "freeplane 1.9.8"), LIMITS)


def sheet_of(nodes: str) -> Sheet:
    return outline_of(nodes).sheets[0]


def root_of(nodes: str) -> Topic:
    return sheet_of(nodes).root


def with_files(nodes: str, **files: bytes) -> Topic:
    """Return the central topic of a map next to these ``files`` (``__`` in a name is a dot)."""
    beside = {name.replace("__", "."): data for name, data in files.items()}
    return reader.read(Content(freemind(nodes), LIMITS, beside=beside.get)).sheets[0].root


@pytest.mark.parametrize(
    ("icon", "name"),
    [
        ("full-3", "priority-3"),
        ("50%", "progress-50"),
        ("button_ok", "yes"),
        ("yes", "exclamation"),
        ("checked", "task-done"),
        ("flag", "flag-red"),
        ("flag-blue", "flag-blue"),
        ("emoji-1F507", "emoji-1f507"),
        ("Mine/Hardware/laptop", "computer"),
        ("my own", "other-my-own"),
    ],
)
def test_icons(icon: str, name: str) -> None:
    assert root_of(f'<node TEXT="r"><icon BUILTIN="{icon}"/></node>').markers == (
        Marker(name, icon),
    )


def test_progress_icons_are_tasks_and_priorities_are_not() -> None:
    assert root_of('<node TEXT="r"><icon BUILTIN="25%"/></node>').task == Task(progress=25)
    assert root_of('<node TEXT="r"><icon BUILTIN="full-1"/></node>').task is None


def test_reminder_is_when_a_task_is_due() -> None:
    hook = '<hook NAME="plugins/TimeManagementReminder.xml"><Parameters REMINDUSERAT="{}"/></hook>'
    node = '<node TEXT="r"><icon BUILTIN="50%"/>{}</node>'
    done = root_of(node.format(hook.format("1704153600000")))
    assert done.task == Task(progress=50, due="2024-01-02T00:00")
    assert root_of(node.format(hook.format("soon"))).task == Task(progress=50)
    assert root_of(f'<node TEXT="r">{hook.replace("Parameters", "other")}</node>').task is None


def test_style_of_a_topic() -> None:
    root = root_of(
        '<node TEXT="r" COLOR="#ff0000" BACKGROUND_COLOR="#00ff00" BORDER_COLOR="#0000ff"'
        ' STYLE="bubble"><edge COLOR="#808080" WIDTH="thin"/>'
        '<font NAME="Arial" SIZE="14" BOLD="true" ITALIC="true"/></node>'
    )
    assert root.style == Style(
        *("#ff0000", "#00ff00", "#808080", "#0000ff"), True, True, 14.0, "rounded", 1.0
    )
    assert root_of('<node TEXT="r" STYLE="combined"><edge WIDTH="parent"/></node>').style is None


@pytest.mark.parametrize(
    ("shape", "name"),
    [("fork", "underline"), ("oval", "ellipse"), ("wide_hexagon", "hexagon"), ("as_parent", "")],
)
def test_shapes(shape: str, name: str) -> None:
    style = root_of(f'<node TEXT="r" STYLE="{shape}" COLOR="#ff0000"/>').style
    assert style is not None
    assert style.shape == name


def test_own_style_overrides_the_named_style() -> None:
    sheet = sheet_of(
        f'<node ID="r" TEXT="r">{STYLES}<node ID="a" TEXT="a" STYLE_REF="Key" COLOR="#ff0000"/>'
        '<node TEXT="b" STYLE_REF="gone"/></node>'
    )
    styled, plain = sheet.root.children
    assert styled.style == Style(text="#ff0000", bold=True, size=9.0, shape="ellipse")
    assert styled.markers == (Marker("key", "password"),)
    assert sheet.boundaries == (Boundary(("a",), colour="#ffffcc"),)
    assert (plain.style, plain.markers) == (None, ())


def test_style_sheet_itself_is_no_topics() -> None:
    sheet = sheet_of(f'<node TEXT="r">{STYLES}</node>')
    assert (sheet.root.style, sheet.root.markers, sheet.boundaries) == (None, (), ())
    assert sheet.background == "#112233"


def test_automatic_layout_gives_styles_by_level() -> None:
    layout = '<hook NAME="accessories/plugins/AutomaticLayout.properties" VALUE="ALL"/>'
    root = root_of(
        f'<node TEXT="r">{STYLES}{layout}<node TEXT="a"><node TEXT="deep"/></node></node>'
    )
    found = [topic.style.text if topic.style else "" for _, topic in root.walk()]
    assert found == ["#0000aa", "#00aa00", ""]


def test_clouds_are_boundaries_even_of_nodes_without_id() -> None:
    sheet = sheet_of(
        '<node TEXT="r"><node ID="a" TEXT="a"><cloud COLOR="#ffcccc"/></node>'
        '<node TEXT="b"><cloud/></node></node>'
    )
    first, second = sheet.root.children
    assert sheet.boundaries == (Boundary(("a",), colour="#ffcccc"), Boundary((second.id,)))
    assert second.id not in ("", first.id)


def test_arrows_are_read_once_with_their_labels() -> None:
    sheet = sheet_of(
        '<node ID="r" TEXT="r">'
        '<node ID="a" TEXT="a"><arrowlink DESTINATION="b" COLOR="#cc0000" MIDDLE_LABEL="leads to"'
        ' SOURCE_LABEL="so"/></node>'
        '<node ID="b" TEXT="b"><linktarget DESTINATION="b" SOURCE="a"/>'
        '<arrowlink DESTINATION="r" SOURCE_LABEL="from" TARGET_LABEL="to"/></node></node>'
    )
    assert sheet.relationships == (
        Relationship("a", "b", "so / leads to", "#cc0000"),
        Relationship("b", "r", "from / to"),
    )


def test_links_are_kept_and_commands_are_not() -> None:
    def links(link: str) -> tuple[str, ...]:
        return root_of(f'<node TEXT="r" LINK="{link}"/>').links

    assert links("#ID_1") == ("#ID_1",)
    assert links("My%20maps/x.mm#ID_1") == ("My%20maps/x.mm#ID_1",)
    assert links("menuitem:_NewMapAction") == ()


def test_links_and_pictures_in_html_that_is_text() -> None:
    root = with_files(
        '<node TEXT="&lt;html&gt;&lt;a href=&quot;http://x/?a&amp;amp;b&quot;&gt;x&lt;/a&gt;'
        '&lt;img src=&quot;p.png&quot; width=&quot;20&quot;&gt;"/>',
        p__png=PICTURE,
    )
    assert root.links == ("http://x/?a&b",)
    assert [(image.digest, image.width, image.height) for image in root.images] == [
        (DIGEST, 20.0, 10.0)
    ]


def test_pictures_in_rich_text() -> None:
    data = base64.b64encode(PICTURE).decode()
    root = with_files(
        '<node><richcontent TYPE="NODE"><html><body><img src="my%20p.png"/>'
        f'<img src="data:image/png;base64,{data}" alt="red"/>'
        '<img src="http://x.example/far.png" height="30"/><img src="data:,"/></body></html>'
        "</richcontent>"
        '<richcontent TYPE="NOTE"><html><body><img src="gone.png"/></body></html></richcontent>'
        "</node>",
        **{"my p__png": PICTURE},
    )
    assert [(image.digest, image.width, image.alt) for image in root.images] == [
        (DIGEST, 40.0, "my p.png"),
        (DIGEST, 40.0, "red"),
        ("", 0.0, "far.png"),
        ("", 0.0, ""),
        ("", 0.0, "gone.png"),
    ]


def test_picture_of_a_hook_has_a_factor() -> None:
    hook = '<hook NAME="ExternalObject" URI="{}" SIZE="{}"/>'
    root = with_files(
        f'<node TEXT="r">{hook.format("p.png", "0.5")}{hook.format("p.png", "x")}'
        f"{hook.format('freeplaneresource:/images/a.svg', '1.0')}</node>",
        p__png=PICTURE,
    )
    assert [tuple(image) for image in root.images] == [
        (DIGEST, 20.0, 10.0, "p.png", True),
        (DIGEST, 40.0, 20.0, "p.png", True),
        ("", 0.0, 0.0, "a.svg", True),
    ]


def test_attributes_without_their_type_in_java() -> None:
    root = root_of(
        '<node TEXT="r"><attribute NAME="a" VALUE="1" OBJECT="java.lang.Long|1"/>'
        '<attribute NAME="b" OBJECT="org.freeplane.FormattedDate|2024-01-02|date"/></node>'
    )
    assert root.attributes == (("a", "1"), ("b", "2024-01-02"))


def test_folded_and_side() -> None:
    root = root_of(
        '<node TEXT="r"><node TEXT="a" POSITION="left" FOLDED="true"><node TEXT="b"/></node>'
        '<node TEXT="c" POSITION="bottom_or_right" FOLDED="false"/></node>'
    )
    assert [(child.side, child.folded) for child in root.children] == [
        ("left", True),
        ("right", False),
    ]


def test_free_topic_floats_where_the_author_put_it() -> None:
    free = '<hook NAME="FreeNode"/>'
    sheet = sheet_of(
        '<node TEXT="root"><node TEXT="branch"/>'
        f'<node TEXT="same" POSITION="right" HGAP_QUANTITY="200 px" VSHIFT_QUANTITY="-75 pt">{free}'
        '<node TEXT="below"/></node>'
        f'<node TEXT="same" POSITION="left" HGAP="200" VSHIFT="30">{free}</node>'
        f'<node TEXT="same">{free}</node></node>'
    )
    assert [child.text for child in sheet.root.children] == ["branch"]
    assert [topic.position for topic in sheet.floating] == [(200.0, -100.0), (-200.0, 30.0), None]
    assert all(topic.kind is TopicKind.FLOATING for topic in sheet.floating)
    assert sheet.floating[0].children == [Topic("below")]


def test_free_topic_below_another_is_a_callout() -> None:
    sheet = sheet_of(
        '<node TEXT="r"><node TEXT="a"><node TEXT="b"><hook NAME="FreeNode"/></node></node></node>'
    )
    assert sheet.floating == ()
    assert sheet.root.children[0].children == [Topic("b", kind=TopicKind.CALLOUT)]


def test_further_centres_of_coggle_float() -> None:
    sheet = sheet_of(
        '<node TEXT="r"/><x-coggle-rootnode TEXT="f" X_COGGLE_POSX="-64.5" X_COGGLE_POSY="7">'
        '<node TEXT="below"/></x-coggle-rootnode>'
    )
    assert [(topic.text, topic.position) for topic in sheet.floating] == [("f", (-64.5, 7.0))]
    assert sheet.floating[0].children == [Topic("below")]


FIRST = '<node TEXT=""><hook NAME="FirstGroupNode"/></node>'
SUMMARY = '<hook NAME="SummaryNode"/><hook NAME="FirstGroupNode"/>'


def summaries_of(nodes: str) -> list[tuple[tuple[str, ...], str]]:
    sheet = sheet_of(f'<node ID="r" TEXT="r">{nodes}</node>')
    return [(summary.topics, summary.topic.text) for summary in sheet.summaries]


def test_the_content_of_a_brace_is_the_summary() -> None:
    sheet = sheet_of(
        f'<node TEXT="r"><node ID="a" TEXT="a"/>{FIRST}<node ID="b" TEXT="b"/>'
        f'<node ID="c" TEXT="c"/><node TEXT="">{SUMMARY}<node ID="s" TEXT="sum"/></node>'
        '<node TEXT="d"/></node>'
    )
    assert [child.text for child in sheet.root.children] == ["a", "b", "c", "d"]
    assert [(summary.topics, summary.topic.id) for summary in sheet.summaries] == [
        (("b", "c"), "s")
    ]
    assert sheet.summaries[0].topic.kind is TopicKind.SUMMARY


def test_braces_of_older_freeplane_versions_have_text() -> None:
    nodes = (
        '<node ID="a" TEXT="a"/><node ID="b" TEXT="b"><hook NAME="FirstGroupNode"/></node>'
        '<node ID="c" TEXT="c"/><node TEXT="sum"><hook NAME="SummaryNode"/></node>'
    )
    assert summaries_of(nodes) == [(("b", "c"), "sum")]


def test_brace_with_several_topics_keeps_them() -> None:
    sheet = sheet_of(
        f'<node TEXT="r"><node ID="a" TEXT="a"/><node TEXT="">{SUMMARY}<node TEXT="x"/>'
        '<node TEXT="y"/></node></node>'
    )
    assert [child.text for child in sheet.summaries[0].topic.children] == ["x", "y"]


def test_summaries_of_summaries() -> None:
    def brace(identifier: str) -> str:
        return f'<node TEXT="">{SUMMARY}<node ID="{identifier}" TEXT="{identifier}"/></node>'

    nodes = (
        f'{FIRST}<node ID="a" TEXT="a"/>{brace("s1")}{FIRST}<node ID="b" TEXT="b"/>'
        '<node TEXT="s2" ID="s2"><hook NAME="SummaryNode"/></node>'
        '<node TEXT="s3"><hook NAME="SummaryNode"/></node>'
    )
    assert summaries_of(nodes) == [(("a",), "s1"), (("b",), "s2"), (("s1", "s2"), "s3")]


def test_groups_stay_on_their_side() -> None:
    nodes = (
        '<node ID="a" TEXT="a" POSITION="left"/><node ID="b" TEXT="b" POSITION="right"/>'
        '<node TEXT="s" POSITION="left"><hook NAME="SummaryNode"/></node>'
    )
    assert summaries_of(nodes) == [(("a",), "s")]


def test_summary_without_topics_is_a_topic() -> None:
    sheet = sheet_of('<node TEXT="r"><node TEXT="s"><hook NAME="SummaryNode"/></node></node>')
    assert (sheet.summaries, sheet.root.children) == ((), [Topic("s")])


def test_hooks_on_other_nodes_are_ignored() -> None:
    root = root_of(
        '<node TEXT="r"><hook NAME="x"><node TEXT="a"><hook NAME="SummaryNode"/>'
        '<node TEXT="b"><hook NAME="FreeNode"/></node></node></hook></node>'
    )
    assert root == Topic("r")


@pytest.mark.parametrize(
    ("node", "formula", "text"),
    [
        (r'TEXT="\latex $x^2$"', "x^2", "$x^2$"),
        (r'TEXT="\latex so $x$"', r"\text{so }x", "so $x$"),
        (r'TEXT="\latex \textbf{b} $x$"', r"\textbf{b} $x$", r"\textbf{b} $x$"),
        (r'TEXT="\[\sqrt[3]{x}\]" FORMAT="latexPatternFormat"', r"\sqrt[3]{x}", r"\[\sqrt[3]{x}\]"),
        ('TEXT="$x_2=3$"', "x_2=3", "$x_2=3$"),
        ('TEXT="$$y$$"', "y", "$$y$$"),
        ('TEXT="$5 or 6$ each"', "", "$5 or 6$ each"),
        ('TEXT="$1 and $"', "", "$1 and $"),
        ('TEXT="$"', "", "$"),
        (r'TEXT="\latexology"', "", r"\latexology"),
    ],
)
def test_formulas(node: str, formula: str, text: str) -> None:
    root = root_of(f"<node {node}/>")
    assert (root.formula, root.text) == (formula, text)


def test_formula_beside_the_text() -> None:
    root = root_of(
        '<node TEXT="r"><hook NAME="plugins/latex/LatexNodeHook.properties" EQUATION="e^x"/></node>'
    )
    assert (root.formula, root.text) == ("e^x", "r")


def test_rich_text_keeps_its_form_and_plain_text_has_none() -> None:
    def html(body: str) -> str:
        rich = f'<richcontent TYPE="NODE"><html>\n<head>\n</head>\n<body>{body}</body></html>'
        return root_of(f"<node>{rich}\n</richcontent></node>").text_html

    assert html("\n  <p>\n    two <b>words</b>\n  </p>\n") == "two <b>words</b>"
    assert html("<ul>\n  <li>\n a\n </li>\n</ul>") == "<ul><li>a</li></ul>"
    assert html("<p>a</p>\n<p><i>b</i></p>") == "<p>a</p><p><i>b</i></p>"
    assert html("<p>\n plain\n</p>") == ""


def test_html_in_text_keeps_its_form() -> None:
    root = root_of(
        '<node TEXT="&lt;html&gt;&lt;head&gt; &lt;/head&gt;&lt;body&gt;a &lt;b&gt;b&lt;/b&gt;'
        '&lt;/body&gt;&lt;/html&gt;"/>'
    )
    assert (root.text, root.text_html) == ("a b", "a <b>b</b>")


def test_clone_has_all_that_its_original_has_but_the_arrows() -> None:
    sheet = sheet_of(
        '<node ID="r" TEXT="r"><node ID="1" TEXT="one" COLOR="#ff0000"><icon BUILTIN="bell"/>'
        '<arrowlink DESTINATION="r"/></node><node ID="2" CONTENT_ID="1"/></node>'
    )
    clone = sheet.root.children[1]
    assert (clone.id, clone.text, clone.style) == ("2", "one", Style(text="#ff0000"))
    assert clone.markers == (Marker("bell", "bell"),)
    assert sheet.relationships == (Relationship("1", "r"),)
