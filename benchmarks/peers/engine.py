"""The bare engine: Tantivy in process, which is the minimum cost of a search with it.

It is a simple index of the five fields with boosts. Searches use ``parse_query`` with all words
required, regular expressions for prefixes, fuzzy terms for typos, and a fast field to order by.
They return twenty hits and the count. There is no HTTP and no JSON, and no record is fetched; these
are the additional costs of a service.

Chinese and Japanese are split into characters. A word is a phrase of them, which the parser creates
from a word with several tokens.
"""

import os
import sys
from pathlib import Path
from typing import Any, Final

import orjson
import tantivy
from tantivy import Filter, Occur, Query, TextAnalyzerBuilder, Tokenizer

from benchmarks.catalogue import Catalogue
from benchmarks.peers.load import measured
from benchmarks.peers.questions import Question
from benchmarks.peers.records import WEIGHTS, documents
from benchmarks.peers.searchtext import fold, typos_allowed
from benchmarks.processes import memory_of_all

PAGE: Final = 20
TOKENIZER: Final = "words"

_WORDS: Final = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    r"|[\p{L}\p{N}--\p{Han}--\p{Hiragana}--\p{Katakana}]+"
)


def build(catalogue: Catalogue, folder: Path) -> None:
    """Index a catalogue."""
    folder.mkdir(parents=True)
    index = _registered(tantivy.Index(_schema(), path=str(folder)))
    schema = index.schema
    writer = index.writer(256_000_000, num_threads=1)
    for document in documents(catalogue):
        values = dict(zip(WEIGHTS, document.texts(), strict=True))
        numbers = {"category_id": document.map.category_id, "views": document.map.views}
        writer.add_document(tantivy.Document.from_dict({**values, **numbers}, schema))
    writer.commit()
    writer.wait_merging_threads()


class Engine:
    """The index in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._index = _registered(tantivy.Index.open(str(folder)))
        self._schema = self._index.schema
        self._searcher = self._index.searcher()

    def count(self, question: Question) -> int:
        """Return how many maps match."""
        return self.ask(question, 0)

    def ask(self, question: Question, spelling: int) -> int:
        """Search with this spelling; return how many maps match."""
        query = self._query(question, spelling)
        if question.category is not None:
            within = Query.term_query(self._schema, "category_id", question.category)
            within = Query.const_score_query(within, 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, within)])
        order = "views" if question.by_views else None
        found = self._searcher.search(query, limit=PAGE, order_by_field=order)
        count: int = found.count  # type: ignore[attr-defined]  # missing from Tantivy's stubs
        return count

    def _query(self, question: Question, spelling: int) -> Query:
        if question.sense not in ("prefix", "typo"):
            return self._index.parse_query(
                question.text(spelling), list(WEIGHTS), WEIGHTS, conjunction_by_default=True
            )
        (word,) = map(fold, question.spelled(spelling))
        clauses = (
            Query.boost_query(self._loosely(question.sense, name, word), weight)
            for name, weight in WEIGHTS.items()
        )
        return Query.boolean_query([(Occur.Should, clause) for clause in clauses])

    def _loosely(self, sense: str, name: str, word: str) -> Query:
        if sense == "prefix":
            return Query.regex_query(self._schema, name, f"{word}.*")
        return Query.fuzzy_term_query(self._schema, name, word, typos_allowed(word))


def main() -> None:
    """Read cases as JSON from standard input, measure them, and write the figures as JSON."""
    engine = Engine(Path(sys.argv[1]))
    job = orjson.loads(sys.stdin.buffer.read())
    at_rest = memory_of_all([os.getpid()])
    cases = {name: _measured(engine, load, job["seconds"]) for name, load in job["cases"].items()}
    figures = {
        "memory_at_rest": at_rest,
        "memory_after_load": memory_of_all([os.getpid()]),
        "cases": cases,
    }
    sys.stdout.buffer.write(orjson.dumps(figures))


def _measured(engine: Engine, load: list[list[Any]], seconds: float) -> dict[str, Any]:
    asked = [(_question(fields), spelling) for fields, spelling in load]
    return measured(lambda number: engine.ask(*asked[number]), len(asked), seconds)


def _question(fields: dict[str, Any]) -> Question:
    return Question(**{**fields, "words": tuple(fields["words"])})


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in WEIGHTS:
        builder.add_text_field(name, tokenizer_name=TOKENIZER)
    builder.add_unsigned_field("category_id", indexed=True)
    builder.add_unsigned_field("views", fast=True)
    return builder.build()


def _registered(index: tantivy.Index) -> tantivy.Index:
    analyzer = TextAnalyzerBuilder(Tokenizer.regex(_WORDS))
    analyzer = analyzer.filter(Filter.lowercase()).filter(Filter.ascii_fold())
    index.register_tokenizer(TOKENIZER, analyzer.build())
    return index


if __name__ == "__main__":
    main()
