"""EdrawMind: drawings of shapes that refer to each other, and the binary kind that is refused."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap, UnreadableFile
from mapshelf.model import Boundary, Marker, Sheet, Style, Task, Topic, TopicKind
from mapshelf.readers import Limits, read
from tests.readers.samples import archive, archive_of, as_file, drawn

LIMITS = Limits()


def words(*lines: str) -> str:
    paragraphs = "".join(f"<pp><tp>{line}</tp></pp>" for line in lines)
    return f"<TextBlock><Text>{paragraphs}</Text></TextBlock>"


def shape(number: int, kind: str, text: str, above: str = "", below: str = "") -> str:
    place = f'<Super V="{above}"/>' * bool(above) + f'<SubLevel V="{below}"/>' * bool(below)
    return (
        f'<Shape ID="{number}" Type="{kind}"><Text>{words(text)}</Text>'
        f"<LevelData>{place}</LevelData></Shape>"
    )


def page(*shapes: str) -> str:
    return f"<Page>{''.join(shapes)}</Page>"


def sheet_of(*shapes: str, **members: str | bytes) -> Sheet:
    """Return the sheet of a page with ``shapes``; ``members`` are named as in ``archive``."""
    packed = archive(page___page__xml=page(*shapes), **members)
    (sheet,) = read(packed, LIMITS).sheets
    return sheet


def topic_of(*parts: str, **members: str | bytes) -> Topic:
    """Return the topic for a shape with ``parts`` inside."""
    return sheet_of(f'<Shape ID="1" Type="MainIdea">{"".join(parts)}</Shape>', **members).root


def at(x: float, y: float) -> str:
    return f'<Transform><CX V="{x}"/><CY V="{y}"/></Transform>'


def placed(text: str, place: str) -> str:
    return text.replace("</Shape>", f"{place}</Shape>")


def texts(**pages: str) -> list[tuple[int, str]]:
    members: dict[str, str | bytes] = {
        f"page/{name}.xml": content for name, content in pages.items()
    }
    data = archive_of(members)
    return [(depth, topic.text) for depth, topic in read(data, LIMITS).topics()]


def test_children_keep_their_order_and_no_topic_is_lost() -> None:
    content = page(
        shape(9, "MMConnector", "", "1"),
        shape(4, "SubTopic", "A1", "2"),
        shape(2, "MainTopic", "A", "1"),
        shape(3, "MainTopic", "B", "1"),
        shape(5, "MainTopic", "unnamed", "1"),
        shape(1, "MainIdea", "Root", "", "3;2"),
        shape(8, "RelatConnector", "Label"),
        shape(6, "MainTopic", "floating"),
        shape(7, "Boundary", ""),
        shape(10, "Callout", "remark", "3"),
    )
    assert texts(page=content) == [
        (0, "Root"),
        (1, "B"),
        (2, "remark"),
        (1, "A"),
        (2, "A1"),
        (1, "unnamed"),
        (0, "floating"),
    ]


def test_pieces_make_lines_and_notes() -> None:
    content = (
        '<Page><Shape ID="1" Type="MainIdea"><Text><TextBlock><Text><pp><tp>one </tp><tp>line'
        f"</tp></pp><pp/><pp><tp>two</tp></pp></Text></TextBlock></Text><Note>{words('a', 'b')}"
        "</Note></Shape></Page>"
    )
    root = read(archive_of({"page/page.xml": content}), LIMITS).roots[0]
    assert root == Topic("one line\n\ntwo", id="1", note="a\nb")


def test_pages_in_the_order_of_their_numbers() -> None:
    arrow = '<Shape Type="RelatConnector"><ConnectMap From="1" To="2"/></Shape>'
    members: dict[str, str | bytes] = {"page/page-3.xml": page()}
    for name in ("-10", "-2", "", "-1"):
        drawing = page(shape(1, "MainIdea", f"root{name}"), shape(2, "Floating", "f"), arrow)
        members[f"page/page{name}.xml"] = drawing.replace("<Page", f'<Page Name="Sheet{name}"')
    sheets = read(archive_of(members), LIMITS).sheets
    assert [sheet.root.text for sheet in sheets] == ["root", "root-1", "root-2", "root-10"]
    assert [sheet.title for sheet in sheets] == ["Sheet", "Sheet-1", "Sheet-2", "Sheet-10"]
    ids = [sheet.root.id for sheet in sheets]
    assert ids == ["1", "1-1", "2-1", "10-1"]  # the ids of shapes start again on each page
    assert [sheet.relationships[0].start for sheet in sheets] == ids


def test_colours_of_shapes_and_connectors() -> None:
    looks = (
        '<ShapeFormat><FillFormat Type="{fill}"><Color V="#ffebecf3"/></FillFormat><LineFormat>'
        '<LineWeight V="3"/><LineFill Type="Solid"><Color V="{line}"/></LineFill></LineFormat>'
        "</ShapeFormat>"
    )
    font = '<Text><TextBlock><Character Size="11" Color="#303030" Bold="1"/></TextBlock></Text>'
    sheet = sheet_of(
        shape(1, "MainIdea", "r"),
        f'<Shape ID="2" Type="MainTopic"><LevelData><Super V="1"/><ToSuper V="3"/></LevelData>'
        f"{looks.format(fill='Solid', line='#80ff0000')}{font}</Shape>",
        f'<Shape ID="3" Type="MMConnector">{looks.format(fill="", line="#ff00ff00")}</Shape>',
        f'<Shape ID="4" Type="SubTopic">{looks.format(fill="None", line="#00ffffff")}</Shape>',
    )
    assert sheet.root.style is None
    assert sheet.root.children[0].style == Style(
        "#303030", "#ebecf3", "#00ff00", "#ff0000", bold=True, size=11, line_width=3
    )
    assert sheet.floating[0].style is None


def test_places() -> None:
    sheet = sheet_of(
        placed(shape(1, "MainIdea", "r"), at(1000, 500)),
        placed(shape(2, "MainTopic", "left", "1"), at(802.5, 400)),
        placed(shape(3, "MainTopic", "right", "1"), at(1200, 600)),
        placed(shape(4, "Floating", "f"), at(1010.5, 480)),
    )
    assert [topic.side for topic in sheet.root.children] == ["left", "right"]
    assert [topic.position for topic in sheet.floating] == [(10.5, -20)]


def test_marks_links_tasks_and_fold() -> None:
    mark = '<Shape Type="Mark"><MarkData GroupName="{0}" Name="{1}"/></Shape>'
    topic = topic_of(
        mark.format("Priority", "priority1"),
        mark.format("Star", "star3"),
        mark.format("Odd", "odd2"),
        '<HyperLink><Address V="https://example.org/"/></HyperLink><HyperLink/>',
        '<TaskInfo Priority="2" StartDate="1769850000" FinishDate="0" Progress="50"/>',
        '<Comment Name="Ann" Date="1" Text="Why?"/>',
        '<LevelData><SubLevel V="2"/></LevelData><Layout><Toggler/></Layout>',
    )
    assert topic.markers == (
        Marker("priority-1", "priority1"),
        Marker("star", "star3"),
        Marker("other-odd2", "odd2"),
    )
    assert topic.links == ("https://example.org/",)
    assert topic.task == Task("", 50, 2, "2026-01-31T09:00")
    assert topic.note == "Ann: Why?"
    assert topic.folded
    nothing = topic_of('<TaskInfo Priority="0" StartDate="0"/><Layout><Toggler/></Layout>')
    assert (nothing.task, nothing.folded) == (None, False)


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf", "1e999", "9" * 30])
def test_numbers_that_are_not_finite_count_as_missing(odd: str) -> None:
    assert topic_of(f'<TaskInfo Priority="{odd}"/>').task is None
    assert topic_of(f'<TaskInfo Priority="2" Progress="{odd}"/>').task == Task("", 0, 2)


def test_pictures_of_topics_and_notes() -> None:
    topic = topic_of(
        '<Shape Type="Image"><Data Res="rId1"/><Transform><Width V="80"/><Height V="40"/>'
        '</Transform></Shape><Shape Type="Image"><Data Res="rId9"/></Shape>'
        '<Note><TextBlock><Text><pp><tp><Image Name="rId2"/></tp></pp></Text></TextBlock></Note>',
        rels___page_rels__xml='<Relationships><Relationship Id="rId1" Target="../media/a.png"/>'
        '<Relationship Id="rId2" Target="../media/b.png"/></Relationships>',
        media___a__png=as_file(drawn((40, 30))),
        media___b__png=as_file(drawn((30, 40))),
    )
    assert [(image.alt, image.width) for image in topic.images if image.digest] == [
        ("b.png", 30),
        ("a.png", 80),
    ]
    assert [image.digest for image in topic.images].count("") == 1
    topic_of('<Shape Type="Image"><Data Res="rId1"/></Shape>', rels___page_rels__xml="<broken")


def test_default_labels_are_ignored() -> None:
    arrow = (
        '<Shape Type="RelatConnector"><ConnectMap From="1" To="2"/><Text{}>'
        + words("Label")
        + "</Text></Shape>"
    )
    sheet = sheet_of(
        shape(1, "MainIdea", "r"),
        shape(2, "MainTopic", "a", "1"),
        arrow.format(""),
        arrow.format(' TextChanged="1"'),
    )
    assert [found.text for found in sheet.relationships] == ["", "Label"]
    assert sheet.floating == ()


def test_summaries_boundaries_and_callouts() -> None:
    sheet = sheet_of(
        shape(1, "MainIdea", "r"),
        shape(2, "MainTopic", "a", "1"),
        shape(3, "MainTopic", "b", "1"),
        '<Shape ID="20" Type="Summary"><SummaryData><Shapes V="2;3"/></SummaryData></Shape>',
        shape(4, "SummaryTopic", "sum", "20"),
        shape(5, "SubTopic", "below", "4"),
        '<Shape ID="21" Type="Summary"><LevelData><SubLevel V="6"/></LevelData>'
        '<SummaryData><Shapes V="3"/></SummaryData></Shape>',
        shape(6, "SummaryTopic", "other"),
        f'<Shape ID="22" Type="Boundary"><BoundaryData><Shapes V="2;3"/></BoundaryData>'
        f"<Text>{words('both')}</Text></Shape>",
        f'<Shape ID="7" Type="Callout"><Data V="3"/><Text>{words("remark")}</Text></Shape>',
    )
    first, second = sheet.summaries
    assert (first.topics, first.topic.text) == (("2", "3"), "sum")
    assert [topic.text for topic in first.topic.children] == ["below"]
    assert (second.topics, second.topic.text) == (("3",), "other")
    assert sheet.boundaries == (Boundary(("2", "3"), "both"),)
    (remark,) = sheet.root.children[1].children
    assert (remark.text, remark.kind) == ("remark", TopicKind.CALLOUT)
    assert sheet.floating == ()


def test_metadata_and_broken_metadata() -> None:
    facts = (
        '<Document Version="7.2"><Properties><Creator V="Ada"/>'
        '<CreatedDate V="2020-03-07 16:15:33"/><ModifiedDate V="never"/></Properties></Document>'
    )
    drawing = page(shape(1, "MainIdea", "r"))
    outline = read(archive_of({"page/page.xml": drawing, "document.xml": facts}), LIMITS)
    assert (outline.software, outline.software_version) == ("EdrawMind", "7.2")
    assert (outline.author, outline.created, outline.modified) == ("Ada", 1583597733000, None)
    outline = read(archive_of({"page/page.xml": drawing, "document.xml": "<Doc"}), LIMITS)
    assert (outline.software, outline.author) == ("EdrawMind", "")


def test_circles_and_shapes_without_id_keep_their_topics() -> None:
    content = (
        page(
            shape(1, "SubTopic", "A", "2"), shape(2, "SubTopic", "B", "1"), shape(3, "X", "C", "3")
        )
        + page()
    )
    content = content.replace("</Page><Page></Page>", "<Shape Type='MainIdea'/></Page>")
    assert sorted(texts(page=content)) == [(0, ""), (0, "A"), (0, "C"), (1, "B")]


def test_binary_files_are_refused_with_a_reason() -> None:
    with pytest.raises(UnreadableFile, match="binary form cannot be read") as caught:
        read(archive_of({"mmpage/page.bin": b"\x00", "document.xml": "<Document/>"}), LIMITS)
    assert not isinstance(caught.value, NotAMap | BrokenFile)


def test_page_without_topics_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        texts(page=page())


@pytest.mark.slow
def test_thousands_of_summaries_of_the_same_topics() -> None:
    ids = ";".join(str(number) for number in range(2_000))
    sheet = sheet_of(
        shape(1, "MainIdea", "r"),
        *(shape(number, "MainTopic", "a", "1") for number in range(2, 2_000)),
        f'<Shape ID="s" Type="Summary"><SummaryData><Shapes V="{ids}"/></SummaryData></Shape>',
        *(shape(number, "SummaryTopic", "sum", "s") for number in range(3_000, 5_000)),
    )
    assert sum(len(summary.topics) for summary in sheet.summaries) < 5_000
