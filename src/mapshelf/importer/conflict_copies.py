"""Recognise conflict copies: what synchronizing programs make of a file that two people changed.

One of the two versions gets a name with a mark, and stays beside the other. It has a content of its
own, so nothing but its name tells that it belongs to the map of the other file. If that is not
published, the copy must not be either.

The programs write different marks, some of them in the language of the user:

* Syncthing: ``plan.sync-conflict-20261127-093015-ABCDEFG.mm``;
* Nextcloud, ownCloud: ``plan (conflicted copy 2026-11-27 093015).mm``,
  ``plan_conflict-20261127-093015.mm``;
* Dropbox: ``plan (Ann's conflicted copy 2026-11-27).mm``, with other words for other languages,
  ``Plan (Case Conflict).mm`` beside ``plan.mm``, ``café (Unicode Encoding Conflict).mm``;
* Seafile: ``plan (SFConflict ann@example.org 2026-11-27-09-30-15).mm``;
* Synology Drive: ``plan_Desk_Nov-27-0930-2026_Conflict_1.mm``;
* Resilio Sync: ``plan.Conflict.mm``;
* git mergetool: ``plan_REMOTE_4711.mm``.

So a mark contains the word "conflict", is in parentheses with a date, or is one of git's. What is
before it may differ from the name of the original in case, or in how accents are encoded.
"""

import os
import re
import unicodedata
from collections.abc import Collection
from typing import Final

from mapshelf.importer.documents import is_in_document, other_places

MOST_ORIGINALS: Final = 60
"""Names that are tried for one file. A mark has few words, so the shortest ones are left out."""

LONGEST_NAME: Final = 255
"""Characters of the longest file name that is looked at, as many as most disks allow. Members of a
zip may have longer ones, which no synchronizing program gave them."""

_END: Final = re.compile(r"[\W_]")
"""What may follow the name of the original: anything but a letter or a digit."""

_CONFLICT: Final = re.compile(
    "conflict|conflit|konflik|\u043a\u043e\u043d\u0444\u043b[\u0438\u0456]\u043a\u0442"
    "|\u7af6\u5408|\u51b2\u7a81|\u885d\u7a81|\ucda9\ub3cc|\u110e\u116e\u11bc\u1103\u1169\u11af",
    re.IGNORECASE,
)
"""The word in some languages: Russian, Japanese, Chinese and Korean are the last ones."""

_MARK: Final = re.compile(
    f"{_CONFLICT.pattern}|_(?:BACKUP|BASE|LOCAL|REMOTE)_\\d+$"
    r"|[(\uff08][^()\uff08\uff09]*\d{4}-\d\d-\d\d[^()\uff08\uff09]*[)\uff09]",
    re.IGNORECASE,
)
"""Parentheses may be those of Chinese and Japanese."""


class ConflictCopies:
    """Finds the originals of conflict copies."""

    def __init__(self, present: Collection[str]) -> None:
        """Set up for folders with the files ``present``."""
        self._present = present
        self._alike: dict[str, list[str]] | None = None

    def originals(self, path: str) -> list[str]:
        """Return ``possible_originals`` of a file, and files that are there with a similar name."""
        found = possible_originals(path)
        if not found:
            return []
        if self._alike is None:
            self._alike = {}
            for one in self._present:
                self._alike.setdefault(spelling_key(one), []).append(one)
        alike = (other for one in found for other in self._alike.get(spelling_key(one), ()))
        return list(dict.fromkeys([*found, *(other for other in alike if other != path)]))


def possible_originals(path: str) -> list[str]:
    """Return the paths beside a file of which it may be a conflict copy, as its name says.

    The list is empty for a name without a mark. Of a document that may be a folder or a file, it
    has both.
    """
    document, main = os.path.split(path) if is_in_document(path) else (path, "")
    folder, name = os.path.split(document)
    if len(name) > LONGEST_NAME:
        return []
    stem, suffix = os.path.splitext(name)
    mark = max((mark.start() for mark in _MARK.finditer(stem)), default=0)
    ends = [end.start() for end in _END.finditer(stem, 1, mark + 1)] if mark else []
    found: list[str] = []
    for end in ends[-MOST_ORIGINALS:]:
        original = os.path.join(folder, stem[:end] + suffix)
        place = os.path.join(original, main) if main else original
        found += (place, *map(os.fsdecode, other_places(place)))
    return found


def is_conflict_copy(path: str, original: str) -> bool:
    """Return whether the name of a file calls it a conflict copy of another.

    A date alone does not: people write it into names, too.
    """
    name = path.removeprefix(os.path.dirname(original))
    return _CONFLICT.search(name) is not None and original in possible_originals(path)


def spelling_key(path: str) -> str:
    """Return the same text for names that differ in case, or in how accents are encoded."""
    return unicodedata.normalize("NFC", path.casefold())
