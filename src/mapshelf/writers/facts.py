"""Express topic metadata as text, for formats that have no field for it.

An export must not lose content because a format is limited. Metadata becomes an attribute if the
format has attributes, otherwise a line of the note.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mapshelf.model import Task, Topic
from mapshelf.writers.plain import one_line


def task_facts(task: Task | None) -> Iterator[tuple[str, str]]:
    """Yield the task properties of a topic as names and values."""
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


def beside_text(topic: Topic, *, tags: bool = False, checkbox: bool = False) -> list[str]:
    """Return lines for the attributes, task, attachments and formula of a topic.

    Args:
        topic: the topic.
        tags: whether to include a line for its tags.
        checkbox: whether the format has a checkbox, which tells that a task is to do or done.
    """
    task = topic.task
    if checkbox and task and task.state in ("todo", "done"):
        task = replace(task, state="")
    facts = [*topic.attributes, *task_facts(task)]
    facts += (("file", file.name) for file in topic.attachments)
    if tags and topic.tags:
        facts.append(("tags", ", ".join(topic.tags)))
    if topic.formula and not is_formula(topic):
        facts.append(("formula", topic.formula))
    lines = (": ".join(filter(None, map(one_line, fact))) for fact in facts)
    return [line for line in lines if line]


def is_formula(topic: Topic) -> bool:
    """Return whether the text of a topic consists only of its formula.

    The text may be the source of the formula: with math delimiters, with words outside them, with
    comments, and with a task checkbox.
    """
    if not topic.formula:
        return False
    return not topic.text.strip() or _bare(topic.text) == _bare(topic.formula)


_AROUND: Final = re.compile(r"\\text\{([^{}]*)\}|\$|\\[\[\]]|(?<!\\)%[^\n]*|\A[☐☑] ")


def _bare(source: str) -> str:
    return "".join(_AROUND.sub(lambda found: found[1] or "", source).split())


def with_lines(note: str, lines: list[str]) -> str:
    """Return a note with ``lines`` appended."""
    return "\n".join(filter(None, (note.strip(), *lines)))
