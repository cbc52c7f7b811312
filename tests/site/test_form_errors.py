"""Error messages of forms: they are written for people and differ from those of the API."""

import re
from pathlib import Path

from mapshelf import errors
from mapshelf.api.upload_reader import REFUSED
from mapshelf.errors import BrokenFile, Forbidden, MapHidden, NotAMap, TooLarge
from mapshelf.site.form_errors import failure


def test_every_forbidden_reason_has_a_message() -> None:
    source = "".join(path.read_text() for path in Path(errors.__file__).parent.rglob("*.py"))
    reasons = set(re.findall(r'Forbidden\(\s*"(\w*)"', source))
    assert len(reasons) > 5
    for reason in reasons:
        error = Forbidden(reason, "in the words of the API", count=1000)
        assert failure(error, "") not in ("", str(error))
    hidden = failure(MapHidden("in the words of the API"), "")
    assert hidden.startswith("An administrator has hidden this map")


def test_messages_of_readers_follow_those_of_forms() -> None:
    for kind in (NotAMap, BrokenFile, TooLarge):
        told = failure(kind(f"{REFUSED}it is so."), "")
        assert re.fullmatch(r"(This|There) .*\. \(it is so\)", told)
