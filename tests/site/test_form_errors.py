"""What forms say when something was wrong: in words for people, none of them the API's."""

import re
from pathlib import Path

from mapshelf import errors
from mapshelf.api.upload_reader import REFUSED
from mapshelf.errors import BrokenFile, Forbidden, MapHidden, NotAMap, TooLarge
from mapshelf.site.form_errors import failure


def test_every_reason_why_somebody_may_not_has_words() -> None:
    source = "".join(path.read_text() for path in Path(errors.__file__).parent.rglob("*.py"))
    reasons = set(re.findall(r'Forbidden\(\s*"(\w*)"', source))
    assert len(reasons) > 5
    for reason in reasons:
        error = Forbidden(reason, "in the words of the API", count=1000)
        assert failure(error, "") not in ("", str(error))
    hidden = failure(MapHidden("in the words of the API"), "")
    assert hidden.startswith("An administrator has hidden this map")


def test_what_readers_say_stands_behind_our_words() -> None:
    for kind in (NotAMap, BrokenFile, TooLarge):
        told = failure(kind(f"{REFUSED}it is so."), "")
        assert re.fullmatch(r"(This|There) .*\. \(it is so\)", told)
