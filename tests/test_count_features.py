"""``count_features``, which checks the readers, counts features of each format rightly."""

import io
import json
import subprocess
import sys
import zipfile
from html import escape
from pathlib import Path

import pytest

from feature_counts import FEATURES, FORMATS, count_file, count_raw

ROOT = Path(__file__).parents[1]


def archive(**members: str | bytes) -> bytes:
    """Return an archive; two underscores in a name stand for a slash, one for a dot."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        for name, content in members.items():
            written.writestr(name.replace("__", "/").replace("_", "."), content)
    return file.getvalue()


def found(data: str | bytes, name: str = "a.map") -> dict[str, int]:
    """Return the counts that are not zero, without topics and sheets."""
    counts = count_raw(name, data.encode() if isinstance(data, str) else data)
    rest = {feature: n for feature, n in counts.items() if n and feature != "topics"}
    if rest.get("sheets") == 1:
        del rest["sheets"]
    return rest


def test_every_rule_is_about_a_feature_and_says_where() -> None:
    names = {feature.name for feature in FEATURES}
    for kind in FORMATS:
        told = [rule.feature for rule in kind.rules]
        assert set(told) <= names
        assert len(told) == len(set(told))
        assert "topics" in told
        assert all(rule.where for rule in kind.rules)


def test_the_feature_counter_shares_no_code_with_the_readers() -> None:
    sources = [ROOT / "scripts/count_features.py", *(ROOT / "scripts/feature_counts").glob("*.py")]
    assert not [path for path in sources if "import mapshelf" in path.read_text("utf-8")]
    assert not [path for path in sources if "from mapshelf" in path.read_text("utf-8")]


STYLES = """<hook NAME="MapStyle"><map_styles><stylenode LOCALIZED_TEXT="root" COLOR="#ff0000">
<stylenode TEXT="Red" COLOR="#ff0000"><icon BUILTIN="yes"/><cloud/><attribute NAME="a"/>
<arrowlink DESTINATION="b"/><richcontent TYPE="NOTE"><p>note</p></richcontent></stylenode>
<stylenode LOCALIZED_TEXT="AutomaticLayout.level.root" COLOR="#000000"/>
</stylenode></map_styles></hook>"""


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", {}),
        ('<node FOLDED="true" TEXT="leaf"/>', {}),
        ('<node FOLDED="true" TEXT="x"><node TEXT="y"/></node>', {"folded": 1}),
        ('<node TEXT="x" STYLE_REF="Red"/><node TEXT="y" STYLE_REF="None"/>', {"colours": 1}),
        ('<node TEXT="x" LOCALIZED_STYLE_REF="AutomaticLayout.level.root"/>', {}),
        (
            '<node ID="c" TEXT="x"><arrowlink DESTINATION="b" MIDDLE_LABEL="to"/>'
            '<arrowlink DESTINATION="gone"/><arrowlink DESTINATION="c"/>'
            '<linktarget SOURCE="c" DESTINATION="b"/></node>',
            {"relationships": 1, "relationship_labels": 1},
        ),
        (
            '<node TEXT=""><hook NAME="FirstGroupNode"/></node>'
            '<node TEXT=""><hook NAME="SummaryNode"/><node TEXT="all"/></node>',
            {"summaries": 1},
        ),
        (
            '<node TEXT=""><hook NAME="SummaryNode"/><cloud/><richcontent TYPE="DETAILS">all'
            "</richcontent></node>",
            {"boundaries": 1, "notes": 1, "summaries": 1},
        ),
        ('<node ID="o" TEXT="x"><icon BUILTIN="a"/></node><node CONTENT_ID="o"/>', {"markers": 2}),
        (
            '<node><richcontent TYPE="NODE"><html><body><img src="a.png"/><img src="http://x/y"/>'
            '<a href="http://z">z&nbsp;</a></body></html></richcontent></node>',
            {"images": 1, "links": 1},
        ),
        (
            '<node TEXT="x"><hook NAME="FreeNode"/><node><hook NAME="FreeNode"/></node></node>',
            {"callouts": 1, "floating": 1},
        ),
        ('<node TEXT="x"><richcontent TYPE="NOTE"><html/></richcontent></node>', {}),
        ('<node TEXT="\\latex x^2"/><node TEXT="=1+1"/><node TEXT="$a_b$"/>', {"formulas": 1}),
    ],
)
def test_freemind(inside: str, expected: dict[str, int]) -> None:
    node = f'<node ID="b" TEXT="centre">{STYLES}{inside}</node>'
    assert found(f'<map version="1.0.1">{node}</map>') == expected


def test_summary_brackets_without_text_are_no_topics() -> None:
    bracket = '<node TEXT=""><hook NAME="SummaryNode"/><node TEXT="all"/></node>'
    text = f'<map version="1"><node TEXT="x">{bracket}</node></map>'
    assert count_raw("a.mm", text.encode())["topics"] == 2


XMIND = """<xmap-content xmlns="urn:xmind:xmap:xmlns:content:2.0"
 xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xhtml="http://www.w3.org/1999/xhtml">
<sheet theme="t"><topic id="a" style-id="gone" branch="folded"><children><topics type="attached">
<topic id="b" style-id="s" branch="folded" xlink:href="xap:attachments/a.mp3"/>
<topic id="c" style-id="font" xlink:href="xmind:#b">
<xhtml:img xhtml:src="xap:attachments/no"/></topic>
</topics></children><boundaries><boundary id="d" range="(0,1)"/>
<boundary range="(9,9)"/></boundaries></topic>
<relationships><relationship end1="b" end2="c"><title> </title></relationship>
<relationship end1="b" end2="d"/></relationships></sheet></xmap-content>"""
XMIND_STYLES = """<xmap-styles xmlns:fo="f"><styles>
<style id="s"><topic-properties fo:color="#123456"/></style>
<style id="font"><topic-properties fo:font-family="x"/></style></styles></xmap-styles>"""


def test_older_xmind() -> None:
    data = archive(
        content_xml=XMIND,
        styles_xml=XMIND_STYLES,
        attachments__a_mp3=b"x",
        Revisions__content_xml=XMIND.replace("attached", "detached"),
    )
    assert found(data) == {
        "attachments": 1,
        "boundaries": 1,
        "colours": 1,
        "folded": 1,
        "links": 1,
        "relationships": 1,
    }


def test_newer_xmind() -> None:
    topics = [
        {"id": "", "title": "", "image": {}, "labels": [], "class": "importantTopic"},
        {"id": "", "title": "", "branch": "folded", "notes": {"plain": {"content": " "}}},
        {"id": "x", "title": "x", "style": {"properties": {"svg:fill": "none"}}},
    ]
    root = {"id": "r", "children": {"attached": topics, "detached": [{"id": "f"}]}}
    joined = [{"end1Id": "", "end2Id": "r"}, {"end1Id": "x", "end2Id": "r", "title": ""}]
    sheets = [{"rootTopic": root, "relationships": joined, "theme": {"map": {"markers": [1]}}}]
    data = archive(content_json=json.dumps(sheets), content_xml=XMIND)
    assert found(data) == {"floating": 1, "relationships": 1}


MINDMANAGER = """<ap:Map xmlns:ap="http://schemas.mindjet.com/MindManager/Application/2003">
<ap:OneTopic><ap:Topic OId="1"><ap:Text PlainText="x"><ap:Font Color="ff112233"/></ap:Text>
<ap:FloatingTopics><ap:Topic OId="f"/></ap:FloatingTopics>
<ap:SubTopics><ap:Topic OId="2"><ap:TopicViewGroup ViewIndex="0"><ap:Collapsed Collapsed="true"/>
</ap:TopicViewGroup><ap:Color FillColor="00ffffff"/><ap:Task TaskPriority="urn:mindjet:None"/>
<ap:OneBoundary><ap:Boundary><ap:BoundaryShape BoundaryShape="urn:mindjet:SummaryArc"/>
<ap:FloatingTopics><ap:Topic OId="s"/></ap:FloatingTopics></ap:Boundary></ap:OneBoundary>
</ap:Topic></ap:SubTopics></ap:Topic></ap:OneTopic>
<ap:Relationships><ap:Relationship><ap:ConnectionGroup><ap:Connection>
<ap:ObjectReference OIdRef="1"/></ap:Connection></ap:ConnectionGroup><ap:ConnectionGroup>
<ap:Connection><ap:ObjectReference OIdRef="2"/></ap:Connection></ap:ConnectionGroup>
<ap:FloatingTopics><ap:Topic><ap:Text PlainText="why"/></ap:Topic></ap:FloatingTopics>
</ap:Relationship></ap:Relationships>
<ap:StyleGroup><ap:Topic><ap:IconsGroup><ap:Icons><ap:Icon/></ap:Icons></ap:IconsGroup></ap:Topic>
</ap:StyleGroup><ap:MarkersSetGroup><ap:Icons><ap:Icon/></ap:Icons></ap:MarkersSetGroup></ap:Map>"""


def test_mindmanager() -> None:
    assert count_raw("a.mmap", MINDMANAGER.encode())["topics"] == 4
    assert found(archive(Document_xml=MINDMANAGER)) == {
        "colours": 1,
        "floating": 1,
        "relationship_labels": 1,
        "relationships": 1,
        "summaries": 1,
    }


def test_edrawmind() -> None:
    label = "<Text><TextBlock><Text><pp><tp>{}</tp></pp></Text></TextBlock></Text>"
    arrow = '<Shape ID="{}" Type="RelatConnector"><ConnectMap From="1" To="2"/>{}</Shape>'
    page = (
        '<Page><Shape ID="1" Type="MainIdea"/><Shape ID="3" Type="MMConnector"/>'
        '<Shape ID="2" Type="MainTopic"><TaskInfo Priority="0" StartDate="0"/><ShapeFormat>'
        '<FillFormat><Color V="#fff" ThemeColor="1"/></FillFormat></ShapeFormat></Shape>'
        f"{arrow.format(4, label.format('Label'))}{arrow.format(5, label.format('causes'))}</Page>"
    )
    assert found(archive(page__page_xml=page)) == {"relationship_labels": 1, "relationships": 2}


def test_vym() -> None:
    text = (
        '<!DOCTYPE vymmap><vymmap><mapcenter><frame frameType="Cloud"/>'
        '<branch scrolled="yes"><heading textColor="#000000">x</heading></branch><branch>'
        '<frame frameType="NoFrame"/><frame frameType="Ellipse" includeChildren="true"/></branch>'
        "</mapcenter>"
        '<xlink beginID="mc:0,bo:0" endID="mc:0,bo:1"/><xlink beginID="mc:0" endID="mc:0,bo:9"/>'
        "</vymmap>"
    )
    assert found(text) == {"boundaries": 1, "relationships": 1, "shapes": 1}


def test_opml_counts_visible_lines() -> None:
    inner = '<outline text="b"><outline text="c"/></outline>'
    text = "<opml><head><expansionState>{}</expansionState></head><body>{}</body></opml>"
    tree = f'<outline text="a">{inner}</outline>'
    assert found(text.format("1", tree)) == {"folded": 1}
    assert found(text.format("1,2", tree)) == {}
    assert found(text.format("", tree)) == {}


@pytest.mark.parametrize("target", ["#top", "/", '\\" + url + \\"'])
def test_places_that_are_not_there_are_no_links_of_opml(target: str) -> None:
    text = escape(f'<a href="{target}">a</a> <a href="x.html">b</a>', quote=True)
    assert found(f'<opml><body><outline text="{text}"/></body></opml>') == {"links": 1}


def test_mindmeister_defaults_are_nothing() -> None:
    empty = {"id": 2, "icon": [], "link": "", "task": {"from": None, "notify": 1}, "boundary": None}
    full = {"id": 3, "icon": ["heart"], "style": {"color": "fff"}, "property": {"floating": True}}
    document = {"root": {"id": 1, "children": [empty, full]}, "theme": {"styles": [{"color": "f"}]}}
    expected = {"colours": 1, "floating": 1, "markers": 1}
    assert found(archive(map_json=json.dumps(document))) == expected


def test_dollar_amounts_are_no_formulas() -> None:
    text = "# costs\n- from $5 to $10\n- $x^2$\n- [x] done\n"
    assert found(text, "a.md") == {"formulas": 1, "task": 1}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04 broken",
        b"<map><node TEXT='x'>",
        b"<!DOCTYPE map [<!ENTITY a 'b'>]><map><node TEXT='&a;'/></map>",
        b'{"ideas": ',
        archive(Document_xml_zencr="secret"),
        archive(mmpage__page_bin="?"),
    ],
)
def test_unreadable_files_have_no_features(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.mm").write_bytes(data)
    assert count_file(tmp_path / "a.mm") == {}


@pytest.mark.process
def test_the_script_prints_a_table_and_writes_the_counts(tmp_path: Path) -> None:
    (tmp_path / "a.mm").write_text('<map version="1"><node TEXT="x"><cloud/></node></map>')
    (tmp_path / "b.txt").write_text("no map")
    out = tmp_path.with_suffix(".json")
    words = [sys.executable, str(ROOT / "scripts/count_features.py"), str(tmp_path)]
    printed = subprocess.run(
        [*words, "--where", "--json", str(out)], capture_output=True, text=True, check=True
    ).stdout
    assert "| `boundaries` | 1/1 |" in printed
    assert "Not readable as maps: 1" in printed
    counts = json.loads(out.read_text())
    assert counts["b.txt"] == {}
    assert counts["a.mm"]["topics"] == 1
