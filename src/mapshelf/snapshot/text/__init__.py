"""Search: which maps hold the words asked for, best first. Tantivy does it; only this part knows.

Words and their forms are made by ``folding`` and ``forms``, for maps and queries alike, and handed
to Tantivy ready made. What is found where, and what that counts for, is told in docs/search.md.
"""

from mapshelf.snapshot.text.documents import Documents, Indexed
from mapshelf.snapshot.text.index import Found, TextIndex
from mapshelf.snapshot.text.writer import TextIndexWriter, link_index

__all__ = [
    "Documents",
    "Found",
    "Indexed",
    "TextIndex",
    "TextIndexWriter",
    "link_index",
]
