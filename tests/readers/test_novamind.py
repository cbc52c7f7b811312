"""NovaMind: cases from the only real file we have, as minimal examples."""

import hashlib

import pytest

from mapshelf.errors import BrokenFile
from mapshelf.model import Boundary, Image, Relationship, Style, Task, Topic, TopicKind
from mapshelf.readers import Limits, read
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from tests.readers.samples import archive_of, as_file, drawn

LIMITS = Limits()
META = (
    '<meta><created timestamp="2024-01-01T00:00:00.0000000+00:00"/><last-saved'
    ' timestamp="2024-01-02T00:00:00Z"><application name="NovaMind" version="6.0.5"/></last-saved>'
    "</meta>"
)
CONTENT = """<document title="t" description="all of it"><maps><map>
<topic-node id="n0" topic-ref="a"><topic-node-view/><sub-topics><topic-node id="n1" topic-ref="b"/>
<topic-node topic-ref="missing"><topic-node-view is-expanded="False"><topic-node-style>
<fill-style><solid-color color="#21ECFF01"/></fill-style></topic-node-style></topic-node-view>
</topic-node><topic-node type="Boundary" topic-ref="e"/></sub-topics></topic-node>
<link-lines><topic-node type="LinkLine" topic-ref="c"><link-line-data start-topic-node-ref="n1"
 end-topic-node-ref="n0"/></topic-node></link-lines></map></maps><tags><item>T</item></tags><topics>
<topic id="a"><rich-text>
  <text-run>one<br />two </text-run>
  <hyperlink url="http://x/"><text-run>three</text-run></hyperlink>
</rich-text><notes><rich-text><text-run>a note</text-run></rich-text></notes></topic>
<topic id="e"><rich-text><text-run>around</text-run></rich-text></topic>
<topic id="b"><project-task percentage-complete="50"/><top-image resource-ref="p"/>
<rich-text><text-run font-color="#FF0000FF">B</text-run></rich-text></topic>
<topic id="c"><rich-text><text-run>on the line</text-run></rich-text></topic></topics></document>"""


def test_tree_and_topics_are_joined() -> None:
    outline = read(archive_of({"content.xml": CONTENT, "meta.xml": META}), LIMITS)
    assert outline.roots == (
        Topic(
            "one\ntwo three",
            "n0",
            "a note\nall of it",
            links=("http://x/",),
            tags=("T",),
            children=[
                Topic(
                    "B",
                    "n1",
                    task=Task(progress=50),
                    images=(Image("", alt=""),),
                    style=Style(text="#0000ff"),
                ),
                Topic("", style=Style(fill="#ecff01")),
            ],
        ),
    )
    (sheet,) = outline.sheets
    assert sheet.relationships == (Relationship("n1", "n0", "on the line", ""),)
    assert sheet.boundaries == ((("n0",), "around", ""),)
    assert (outline.software, outline.software_version) == ("NovaMind", "6.0.5")
    assert (outline.created, outline.modified) == (1704067200000, 1704153600000)


@pytest.mark.parametrize("members", [{}, {"meta.xml": "<meta"}, {"meta.xml": "<meta/>"}])
def test_broken_metadata_does_not_lose_the_map(members: dict[str, str | bytes]) -> None:
    outline = read(archive_of({"content.xml": CONTENT, **members}), LIMITS)
    assert (len(outline.roots[0].children), outline.software_version) == (2, "")


def test_no_map() -> None:
    content = "<document><maps/><topics><!--<topic-node--></topics></document>"
    with pytest.raises(BrokenFile, match="no topics"):
        read(archive_of({"content.xml": content}), LIMITS)


def test_pictures_are_named_by_the_manifest() -> None:
    manifest = '<manifest><resources><resource id="p" url="a/b.png"/></resources></manifest>'
    picture = as_file(drawn((40, 20)))
    members: dict[str, str | bytes] = {"manifest.xml": manifest, "Resources/a/b.png": picture}
    outline = read(archive_of({"content.xml": CONTENT, **members}), LIMITS)
    (image,) = outline.roots[0].children[0].images
    assert image == Image(hashlib.sha256(picture).hexdigest(), 40.0, 20.0, "b.png")


def test_a_topic_with_a_check_box_is_a_task() -> None:
    for state, expected in (("Unchecked", "todo"), ("Checked", "done")):
        project = f'<topic id="b" checked-state="{state}"><project-task/>'
        content = CONTENT.replace('<topic id="b"><project-task percentage-complete="50"/>', project)
        (root,) = read(archive_of({"content.xml": content}), LIMITS).roots
        assert root.children[0].task == Task(state=expected)


def test_an_icon_is_a_picture() -> None:
    adorned = '<topic id="b"><adornments><adornment resource-ref="i"/></adornments>'
    content = CONTENT.replace('<topic id="b">', adorned)
    manifest = '<manifest><resources><resource id="i" url="bag.png"/></resources></manifest>'
    members: dict[str, str | bytes] = {
        "content.xml": content,
        "manifest.xml": manifest,
        "Resources/bag.png": as_file(drawn()),
    }
    (root,) = read(archive_of(members), LIMITS).roots
    lost, icon = root.children[0].images
    assert not lost.digest
    assert icon.digest
    assert icon.height == 24.0


def test_the_fallback_of_a_picture_is_used() -> None:
    manifest = (
        '<manifest><resources><resource id="p" url="a.pdf" fallback-url="a.png"/></resources>'
        "</manifest>"
    )
    members: dict[str, str | bytes] = {
        "manifest.xml": manifest,
        "Resources/a.pdf": b"%PDF-1.4",
        "Resources/a.png": as_file(drawn()),
    }
    (root,) = read(archive_of({"content.xml": CONTENT, **members}), LIMITS).roots
    (image,) = root.children[0].images
    assert (bool(image.digest), image.alt) == (True, "a.png")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("C0V0", "#102030"), ("C1V0", "#ffffff"), ("C1V3", ""), ("C7V0", ""), ("C", "")],
)
def test_a_colour_may_be_one_of_the_theme(name: str, expected: str) -> None:
    colours = "<color>#FF102030</color><color>#FFFFFFFF</color>"
    sheet = (
        '<style-sheet><themes><theme id="other"/><theme id="t"><color-set><base-colors>'
        f"{colours}</base-colors></color-set></theme></themes></style-sheet>"
    )
    content = CONTENT.replace("<maps><map>", '<maps><map theme-ref="t">')
    content = content.replace("#21ECFF01", name)
    (root,) = read(archive_of({"content.xml": content, "style-sheet.xml": sheet}), LIMITS).roots
    assert root.children[1].style == (Style(fill=expected) if expected else None)


def test_shapes_keep_their_position() -> None:
    view = '<topic-node-view location="-93.5,-57"/>'
    content = CONTENT.replace(
        '<topic-node type="Boundary"',
        f'<topic-node id="s" type="Shape" topic-ref="c">{view}<sub-topics><topic-node id="i"'
        f' type="Shape" topic-ref="b">{view}</topic-node></sub-topics></topic-node>'
        '<topic-node type="Boundary"',
    )
    (sheet,) = read(archive_of({"content.xml": content}), LIMITS).sheets
    (shape,) = sheet.floating
    assert (shape.text, shape.kind) == ("on the line", TopicKind.FLOATING)
    assert shape.position == (-93.5, -57.0)
    (inside,) = shape.children
    assert (inside.text, inside.kind) == ("B", TopicKind.CALLOUT)
    assert len(sheet.root.children) == 2


def test_a_topic_may_have_no_box() -> None:
    for stroked, expected in (("False", Style(shape="none")), ("True", None)):
        inside = f'<fill-style draws-fill="False"/><line-style draws-stroke="{stroked}"/>'
        content = CONTENT.replace(
            '<fill-style><solid-color color="#21ECFF01"/></fill-style>', inside
        )
        (root,) = read(archive_of({"content.xml": content}), LIMITS).roots
        assert root.children[1].style == expected


def test_relationships_and_boundaries_go_to_the_sheet_with_their_topic() -> None:
    """They belong to a map, which may have thousands of central topics."""
    many = range(50)
    centres = "".join(
        f'<topic-node id="c{one}"><sub-topics><topic-node id="t{one}"/>'
        f'<topic-node type="Boundary"/></sub-topics></topic-node>'
        for one in many
    )
    ends = [(f"c{one}", f"t{one}") for one in many] + [("c1", "t2"), ("c1", "none"), ("", "")]
    lines = "".join(
        f'<topic-node><link-line-data start-topic-node-ref="{start}" end-topic-node-ref="{end}"/>'
        "</topic-node>"
        for start, end in ends
    )
    of_one_map = f"<map>{centres}<link-lines>{lines}</link-lines></map>"
    of_another = '<map><topic-node id="c0"/></map>'
    content = f"<document><maps>{of_one_map}{of_another}</maps></document>"
    outline = read(archive_of({"content.xml": content}), LIMITS)
    assert len(outline.sheets) == len(many) + 1
    given = sum(len(sheet.relationships) + len(sheet.boundaries) for sheet in outline.sheets)
    assert given <= 2 * len(many) + len(ends)
    assign_topic_ids(outline)
    *sheets, other = sound_sheets(outline).sheets
    for one, sheet in enumerate(sheets):
        assert sheet.relationships == (Relationship(f"c{one}", f"t{one}"),)
        assert sheet.boundaries == (Boundary((f"c{one}",)),)
    assert (other.relationships, other.boundaries) == ((), ())
