"""Reads maps anew whose outlines an older version made, from the files that are kept.

A new version finds more in the same files: pictures, icons, arrows. Nobody should have to import
everything again for that. The store knows which maps are left, so this goes on where it was
stopped, and is over at once if there are none. Only outlines, links and pictures change: what
people said about a map since (title, description, category) stays.

Several nodes may do this at the same time. Each begins somewhere else, and the store takes the
first result for each map.
"""

import logging
import os
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from mapshelf.importer.scan import is_gone, resolve_path
from mapshelf.model import OriginalFile, OutdatedMap, ReparsedMap
from mapshelf.readers.sandboxed_reader import FileAgain, ReadFile, SandboxedReader
from mapshelf.store.contract import Maps, ReparsableOutlines, Tags
from mapshelf.store.merge import current_tags

BATCH_SIZE: Final = 20
"""Maps written in one transaction; the files of so many are in memory."""

_FIRST: Final = 1_000_000
"""Most of the maps to begin behind, if there are so many."""

log = logging.getLogger(__name__)


class ReparsingStore(Maps, ReparsableOutlines, Tags, Protocol):
    """What reading maps anew needs of a store."""


def reparse_outlines(
    store: ReparsingStore,
    reader: SandboxedReader,
    folders: Sequence[Path],
    pause: Callable[[], bool],
) -> int:
    """Read anew every map that an older version read; return how many were changed.

    Args:
        store: has the maps and their files.
        reader: reads them.
        folders: the imported folders. Pictures beside a file in one of them are read, too, if it is
            still there.
        pause: called after each batch; tells whether to stop.

    Raises:
        StoreError: the store failed; what was written before stays.
    """
    tops = [resolve_path(folder) for folder in folders]
    after = random.randrange(_FIRST)  # noqa: S311 - to be elsewhere than other nodes, no secret
    changed, told = 0, False
    while True:
        page = store.outdated(after, BATCH_SIZE)
        if not page and not after:
            break
        if page and not told:
            log.info("reading maps anew that an older version read, in the background")
            told = True
        after = page[-1].file_id if page else 0
        changed += store.replace_outlines(_reparsed_maps(store, reader, tops, page)) if page else 0
        if page and pause():
            return changed
    if told:
        log.info("read %d maps anew", changed)
    return changed


def _reparsed_maps(
    store: ReparsingStore, reader: SandboxedReader, tops: Sequence[str], page: Sequence[OutdatedMap]
) -> list[ReparsedMap]:
    kept = {found.file_id: (found, store.content(found.file_id)) for found in page}
    files = {
        file_id: _file_again(found, file, tops) for file_id, (found, file) in kept.items() if file
    }
    results = zip(files, reader.read_again(files.values()), strict=True)
    read = {file_id: result for file_id, result in results if isinstance(result, ReadFile)}
    renamed = store.renamed_tags()
    return [
        _reparsed_map(file_id, read[file_id], renamed) if file_id in read else ReparsedMap(file_id)
        for file_id in kept
    ]


def _reparsed_map(file_id: int, found: ReadFile, renamed: Mapping[str, str]) -> ReparsedMap:
    tags = current_tags(found.tags, renamed)
    return ReparsedMap(file_id, found.digest, found.outline, found.images, found.links, tags)


def _file_again(found: OutdatedMap, file: OriginalFile, tops: Sequence[str]) -> FileAgain:
    path = os.fsdecode(found.path)
    below = (top for top in tops if path.startswith(top.rstrip("/") + "/"))
    folder = next(below, "")
    if not folder or is_gone(found.path):
        return FileAgain(file.content, file.name, "")
    return FileAgain(file.content, path, folder)
