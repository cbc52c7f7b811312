"""EdrawMind: drawings of shapes that name each other, and the kind that cannot be read."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap, UnreadableFile
from mapshelf.model import Topic
from mapshelf.readers import Limits, read
from tests.readers.samples import archive_of

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


def texts(**pages: str) -> list[tuple[int, str]]:
    data = archive_of({f"page/{name}.xml": content for name, content in pages.items()})
    return [(depth, topic.text) for depth, topic in read(data, LIMITS).topics()]


def test_order_is_the_parents_and_nothing_is_lost() -> None:
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
    data = archive_of(
        {
            f"page/page{name}.xml": page(shape(1, "MainIdea", f"root{name}"))
            for name in ("-10", "-2", "", "-1")
        }
    )
    roots = [root.text for root in read(data, LIMITS).roots]
    assert roots == ["root", "root-1", "root-2", "root-10"]


def test_facts_and_their_absence() -> None:
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


def test_binary_kind_is_refused_plainly() -> None:
    with pytest.raises(UnreadableFile, match="binary form cannot be read") as caught:
        read(archive_of({"mmpage/page.bin": b"\x00", "document.xml": "<Document/>"}), LIMITS)
    assert not isinstance(caught.value, NotAMap | BrokenFile)


def test_page_without_topics_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        texts(page=page())
