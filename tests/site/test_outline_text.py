"""The text of a map for everybody has all that is attached to topics, and nothing that acts."""

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
from mapshelf.site.outline import outline_html
from tests.site.shelves import STRIKES
from tests.site.test_pages import Reading


def test_the_text_of_a_map_is_bounded_whatever_is_about_all_of_it() -> None:
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
        reading.feed(str(outline_html(Outline((sheet, sheet)), "/maps/x/images")))
        allowed = {*("div", "header", "p", "span", "ul", "li", "img", "code", "a")}
        assert {tag for tag, _ in reading.found} <= allowed
        for _, attributes in reading.found:
            assert not [name for name in attributes if name.startswith("on")]
            assert attributes.get("src", "/maps/x/images/").startswith("/maps/x/images/")
            assert attributes.get("href", "#").startswith("#")
