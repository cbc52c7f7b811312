"""What exports leave out, and how Markdown exports keep formulas of several lines."""

import orjson
import pytest

from mapshelf.model import Image, Outline, Topic, sheets_of
from mapshelf.writers import markdown, outline_json


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("a\n+ b", "$$a + b$$"),
        ("a % first\n+ b", "$$a + b$$"),
        ("50\\% \n x", "$$50\\% x$$"),
        ("\\begin{matrix}\na \\\\\nb\n\\end{matrix}", "$$\\begin{matrix} a \\\\ b \\end{matrix}$$"),
    ],
)
def test_formulas_are_written_on_one_line_in_markdown(formula: str, written: str) -> None:
    root = Topic("Root", "r", children=[Topic("", "f", formula=formula)])
    assert written in markdown.write(Outline(sheets_of((root,)))).decode()


def test_unknown_details_of_a_picture_are_left_out() -> None:
    images = (Image("", alt="gone.png"), Image("a" * 64, 80, 0, "here"))
    written = outline_json.write(Outline(sheets_of((Topic("Root", "r", images=images),))))
    found = orjson.loads(written)["sheets"][0]["root"]["images"]
    assert found[0] == {"alt": "gone.png"}
    assert found[1].keys() == {"url", "width", "alt"}
