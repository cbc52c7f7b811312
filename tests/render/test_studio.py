"""The studio makes each picture once, and has one for every map."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.disk_cache import DiskCache
from mapshelf.errors import StoreUnavailable
from mapshelf.render import studio as module
from mapshelf.render.order import Order
from mapshelf.render.studio import Studio
from tests.render.trees import order, tree

pytestmark = pytest.mark.process


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(DiskCache(tmp_path, 1 << 20))
    yield made
    made.close()


def test_a_picture_is_made_once(studio: Studio) -> None:
    wanted = order(tree(3))
    assert studio.kept(wanted) is None
    picture = studio.picture(wanted)
    assert picture.key == wanted.key()
    assert picture.body.startswith(b"<svg")
    assert studio.kept(wanted) == picture
    studio.close()  # it makes nothing more
    assert studio.picture(wanted) == picture
    with pytest.raises(StoreUnavailable):
        studio.picture(replace(wanted, width=160))


def draw_cards_only(order: Order) -> bytes:
    """Be busy for long with any map; cards are done at once."""
    while order.outline is not None:
        time.sleep(0.01)
    return b"card of " + order.title.encode()


def test_a_map_that_takes_too_long_gets_its_card_and_is_not_tried_again(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    studio.picture(order(None))  # starts the child
    monkeypatch.setattr(module, "_draw", draw_cards_only)
    monkeypatch.setattr(module, "WALL_SECONDS", 1.0)
    wanted = order(tree(3))
    assert studio.picture(wanted).body == b"card of A title"
    assert len(caplog.records) == 1
    assert "A title" in caplog.text
    monkeypatch.setattr(module, "WALL_SECONDS", 30.0)
    assert studio.picture(wanted) == studio.kept(wanted) == studio.kept(order(None))
    assert len(caplog.records) == 1


def test_a_damaged_outline_gets_the_card_of_the_map(studio: Studio) -> None:
    damaged = replace(order(None), outline=b"damaged")
    assert studio.picture(damaged) == studio.picture(order(None))


def test_a_studio_that_closed_makes_nothing(studio: Studio) -> None:
    studio.picture(order(None))
    studio.close()
    with pytest.raises(StoreUnavailable):
        studio.picture(order(tree(2)))
