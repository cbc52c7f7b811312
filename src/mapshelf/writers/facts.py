"""What authors attach to topics, as words, for formats without a place for it.

Nothing an author wrote may be lost in an export only because a format is poor. It becomes an
attribute where a format has these, a line of the note where it has not.
"""

import re
from collections.abc import Iterator
from typing import Final

from mapshelf.model import Task, Topic
from mapshelf.writers.plain import one_line


def task_facts(task: Task | None) -> Iterator[tuple[str, str]]:
    """Yield the names and values of what is planned about a topic."""
    if task is None:
        return
    facts = {
        "state": task.state,
        "progress": "" if task.progress is None else f"{task.progress}%",
        "priority": "" if task.priority is None else str(task.priority),
        "start": task.start.replace("T", " "),
        "due": task.due.replace("T", " "),
        "resources": ", ".join(task.resources),
    }
    yield from ((name, value) for name, value in facts.items() if value)


def beside_text(topic: Topic, *, tags: bool = False) -> list[str]:
    """Return lines for the attributes of a topic, its task, the names of files, and its formula.

    Args:
        topic: the topic.
        tags: whether there is to be a line for its tags, too.
    """
    facts = [*topic.attributes, *task_facts(topic.task)]
    facts += (("file", file.name) for file in topic.attachments)
    if tags and topic.tags:
        facts.append(("tags", ", ".join(topic.tags)))
    if topic.formula and not is_formula(topic):
        facts.append(("formula", topic.formula))
    lines = (": ".join(filter(None, map(one_line, fact))) for fact in facts)
    return [line for line in lines if line]


def is_formula(topic: Topic) -> bool:
    """Return whether the text of a topic is its formula and nothing else.

    The text may be what the formula was made of: with signs around mathematics, with words outside
    of it, with comments, and with the box of a task.
    """
    if not topic.formula:
        return False
    return not topic.text.strip() or _bare(topic.text) == _bare(topic.formula)


_AROUND: Final = re.compile(r"\\text\{([^{}]*)\}|\$|\\[\[\]]|(?<!\\)%[^\n]*|\A[☐☑] ")


def _bare(source: str) -> str:
    return "".join(_AROUND.sub(lambda found: found[1] or "", source).split())


def with_lines(note: str, lines: list[str]) -> str:
    """Return a note with further lines."""
    return "\n".join(filter(None, (note.strip(), *lines)))
