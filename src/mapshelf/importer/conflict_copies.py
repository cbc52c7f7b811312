"""Recognise conflict copies: what synchronizing programs make of a file that two people changed.

One of the two versions gets a name with a mark, and stays beside the other. It has a content of its
own, so nothing but its name tells that it belongs to the map of the other file. If that is not
published, the copy must not be either.

The programs write different marks, some of them in the language of the user:

* Syncthing: ``plan.sync-conflict-20261127-093015-ABCDEFG.mm``;
* Nextcloud, ownCloud: ``plan (conflicted copy 2026-11-27 093015).mm``,
  ``plan_conflict-20261127-093015.mm``;
* Dropbox: ``plan (Ann's conflicted copy 2026-11-27).mm``, with other words for other languages;
* Seafile: ``plan (SFConflict ann@example.org 2026-11-27-09-30-15).mm``;
* Synology Drive: ``plan_Desk_Nov-27-0930-2026_Conflict_1.mm``;
* Resilio Sync: ``plan.Conflict.mm``.

So a mark contains the word "conflict", or is in parentheses with a date.
"""

import os
import re
from typing import Final

from mapshelf.importer.documents import is_in_document, other_places

MOST_ORIGINALS: Final = 20
"""Names that are tried for one file. A mark has few words, so the shortest ones are left out."""

_SEPARATOR: Final = re.compile(r"[\W_]+")
_MARK: Final = re.compile(r"conflict|\([^()]*\d{4}-\d\d-\d\d[^()]*\)", re.IGNORECASE)


def possible_originals(path: str) -> list[str]:
    """Return the paths beside a file of which it may be a conflict copy, as its name says.

    The list is empty for a name without a mark. Of a document that may be a folder or a file, it
    has both.
    """
    document, main = os.path.split(path) if is_in_document(path) else (path, "")
    folder, name = os.path.split(document)
    stem, suffix = os.path.splitext(name)
    end = max((mark.start() for mark in _MARK.finditer(stem)), default=0)
    separators = [separator.start() for separator in _SEPARATOR.finditer(stem, 1, end)]
    found: list[str] = []
    for separator in separators[-MOST_ORIGINALS:]:
        original = os.path.join(folder, stem[:separator] + suffix)
        place = os.path.join(original, main) if main else original
        found += (place, *map(os.fsdecode, other_places(place)))
    return found
