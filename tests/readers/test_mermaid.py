"""Mermaid: indentation, shapes and decorations."""

import pytest

from mapshelf.errors import BrokenFile, NotAMap
from mapshelf.model import Outline
from mapshelf.readers import Limits, read

LIMITS = Limits()


def outline_of(text: str) -> Outline:
    return read(text.encode(), LIMITS)


def texts(body: str) -> list[tuple[int, str]]:
    return [(depth, topic.text) for depth, topic in outline_of(f"mindmap\n{body}").topics()]


def test_indentation_makes_levels() -> None:
    assert texts("  r\n    a\n        b\n      c\n\n\td\n  e\n") == [
        (0, "r"),
        (1, "a"),
        (2, "b"),
        (2, "c"),
        (0, "d"),
        (1, "e"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "words here",
        "id[words here]",
        "id(words here)",
        "id((words here))",
        "id)words here(",
        "id))words here((",
        "id{{words here}}",
        "id(-words here-)",
        "id-)words here(-",
        "[words here]",
        "words here %% remark",
        "words here :::urgent large",
        'id["words here"]',
        'id["`**words** *here*`"] %% remark',
        "id[words#32;here]",
    ],
)
def test_shapes_and_decorations(line: str) -> None:
    assert texts(f"  {line}\n    ::icon(fa fa-book)\n    :::cls\n    %% remark\n") == [
        (0, "words here")
    ]


def test_brackets_that_are_no_shape_stay() -> None:
    assert texts("  1) first\n    fine :-)\n    a [b\n") == [
        (0, "1) first"),
        (1, "fine :-)"),
        (1, "a [b"),
    ]


def test_lines_in_quotation_marks_and_breaks() -> None:
    assert texts(
        '  r["`one\n  **two** (and) [more]\n`"]\n    a["b<br/>c #quot;d#quot;"]\n    e["f'
    ) == [
        (0, "one\ntwo (and) [more]"),
        (1, 'b\nc "d"'),
        (1, "f"),
    ]


@pytest.mark.parametrize(
    "prolog",
    [
        "mindmap",
        "\n\n  MINDMAP  ",
        "---\ntitle: t\nconfig:\n  theme: x\n---\nmindmap",
        "%%{init: {'theme': 'dark'}}%%\n%% remark\nmindmap %% remark",
        "---\r\ntitle: t\r\n---\r\nmindmap\r",
    ],
)
def test_prologs(prolog: str) -> None:
    outline = outline_of(f"{prolog}\n  r\n    a\n")
    assert [topic.text for _, topic in outline.topics()] == ["r", "a"]
    assert outline.software == "Mermaid"


def test_other_encodings() -> None:
    assert read("mindmap\n  é€\n".encode("utf-16"), LIMITS).roots[0].text == "é€"


@pytest.mark.parametrize("text", ["flowchart TD\n  mindmap", "%% x\nsequenceDiagram\n", "graph LR"])
def test_other_diagrams_are_named(text: str) -> None:
    with pytest.raises(NotAMap, match="Mermaid diagram of another kind"):
        outline_of(text)


def test_longer_words_are_not_the_keyword() -> None:
    with pytest.raises(NotAMap):
        outline_of("mindmaps are useful\n")


def test_keyword_alone_is_broken() -> None:
    with pytest.raises(BrokenFile, match="no topics"):
        outline_of("mindmap\n%% nothing\n")
