"""The cache of compiled templates: later processes use it, but no outdated or damaged file."""

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from mapshelf.site.compiled_templates import CompiledTemplates


@pytest.fixture(autouse=True)
def _writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python write compiled files, whatever PYTHONDONTWRITEBYTECODE says."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def rendered(folder: Path, source: str, *, trim_blocks: bool = False) -> str:
    """Render a template as a new process would."""
    kept = CompiledTemplates(folder)
    loader = DictLoader({"page": source})
    environment = Environment(
        loader=loader, autoescape=True, bytecode_cache=kept, trim_blocks=trim_blocks
    )
    return environment.get_template("page").render(word="<a>")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_next_process_uses_compiled_templates(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert rendered(folder, "Say {{ word }}") == "Say &lt;a&gt;"
    kept = files(folder)
    assert len(kept) == 1
    (path,) = folder.iterdir()
    path.write_bytes(kept[path.name].replace(b"Say", b"Yes"))
    assert rendered(folder, "Say {{ word }}") == "Yes &lt;a&gt;", "the cached template was not used"


def test_another_source_or_option_is_compiled_again(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{% if 1 %}\n1{% endif %}") == "\n1"
    assert rendered(tmp_path, "{% if 1 %}\n2{% endif %}") == "\n2"
    assert rendered(tmp_path, "{% if 1 %}\n2{% endif %}", trim_blocks=True) == "2"
    assert len(files(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"no code", b"j2"])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    rendered(tmp_path, "{{ word }}")
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage == b"j2" else damage)
    assert rendered(tmp_path, "{{ word }}") == "&lt;a&gt;"
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert rendered(tmp_path / "file", "{{ word }}") == "&lt;a&gt;"


def test_nothing_is_written_if_python_writes_no_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(tmp_path, "{{ word }}") == "&lt;a&gt;"
    assert files(tmp_path) == {}
