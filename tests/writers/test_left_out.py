"""What exports leave out, and what they keep although it is written on several lines."""

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
def test_a_formula_of_several_lines_is_one_in_markdown(formula: str, written: str) -> None:
    root = Topic("Root", "r", children=[Topic("", "f", formula=formula)])
    assert written in markdown.write(Outline(sheets_of((root,)))).decode()


def test_what_is_not_known_of_a_picture_is_left_out() -> None:
    images = (Image("", alt="gone.png"), Image("a" * 64, 80, 0, "here"))
    written = outline_json.write(Outline(sheets_of((Topic("Root", "r", images=images),))))
    found = orjson.loads(written)["sheets"][0]["root"]["images"]
    assert found[0] == {"alt": "gone.png"}
    assert found[1].keys() == {"url", "width", "alt"}
