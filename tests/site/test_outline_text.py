"""The text on the page of a map: it has everything attached to topics, and all of it is escaped."""

from mapshelf.model import (
    Attachment,
    Boundary,
    Image,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Task,
    Topic,
)
from mapshelf.render.formula_markup import ELEMENTS
from mapshelf.render.formulas import mathml
from mapshelf.site.outline import outline_html
from tests.site.shelves import STRIKES
from tests.site.test_pages import Reading


def test_the_text_of_a_map_is_limited() -> None:
    leaves = [Topic(f"t{number}", f"t{number}") for number in range(400)]
    ids = tuple(topic.id for topic in leaves)
    sheet = Sheet(
        Topic("r", "r", children=leaves, images=(Image("a" * 64, alt="z" * 10_000),) * 100),
        boundaries=(Boundary(ids, "all"),) * 400,
        relationships=(Relationship("t1", "t2", "words"),) * 5000,
    )
    assert len(outline_html(Outline((sheet,)), "/maps/x/images")) < 2_000_000


def test_the_text_escapes_what_is_attached_to_topics() -> None:
    for strike in STRIKES:
        hostile = Topic(
            strike,
            strike,
            tags=(strike,),
            markers=(Marker(f"other-{strike}", strike),),
            attributes=((strike, strike),),
            attachments=(Attachment(strike, 5),),
            images=(Image(strike, alt=strike), Image("", alt=strike)),
            task=Task(resources=(strike,), due=strike),
            formula=strike,
        )
        sheet = Sheet(
            hostile,
            strike,
            floating=(Topic(strike, "f"),),
            relationships=(Relationship(strike, "f", strike),),
            boundaries=(Boundary((strike,), strike),),
        )
        reading = Reading()
        written = mathml([strike])
        reading.feed(str(outline_html(Outline((sheet, sheet)), "/maps/x/images", {}, written)))
        allowed = {*("div", "header", "p", "span", "ul", "li", "img", "code", "a")}
        assert {tag for tag, _ in reading.found} <= allowed | ELEMENTS
        for _, attributes in reading.found:
            assert not [name for name in attributes if name.startswith("on")]
            assert attributes.get("src", "/maps/x/images/").startswith("/maps/x/images/")
            assert attributes.get("href", "#").startswith("#")


def test_formulas_are_mathml_in_the_text() -> None:
    topics = [
        Topic("$x_1$", "only", formula="x_1"),
        Topic("Area", "beside", formula="r^2"),
        Topic("", "unknown", formula=r"\unknown{<b>}"),
    ]
    outline = Outline((Sheet(Topic("r", "r", children=topics)),))
    text = str(outline_html(outline, formulas=mathml(["x_1", "r^2", r"\unknown{<b>}"])))
    shown = '<span class="t" dir="auto"><span class="mathematics"><math displaystyle="true"'
    assert f'{shown} alttext="x_1">' in text
    assert "$x_1$" not in text
    assert (
        '<p class="formula"><span class="mathematics"><math displaystyle="true" alttext="r^2">'
        in text
    )
    assert "<code>\\unknown{&lt;b&gt;}</code>" in text
