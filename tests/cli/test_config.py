"""The configuration file, and ``mapshelf config``, which shows where settings come from."""

import shlex
from contextlib import closing
from pathlib import Path

import pytest

from mapshelf.cli import main
from mapshelf.cli.config_file import VARIABLE, VARIABLES
from mapshelf.cli.sign_in_options import SECRET
from mapshelf.settings import sqlite_url
from mapshelf.store import open_store

FILE = """
data = "{folder}/data"
base-url = "https://maps.example.org"
port = 9000
private = true
trusted-proxy = ["10.0.0.0/8", "127.0.0.1"]
folders = ["{folder}/a", "{folder}/b"]
"""


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the environment after commands that change it."""
    for name in (VARIABLE, SECRET, *VARIABLES.values()):
        monkeypatch.setenv(name, "")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "mapshelf.toml"
    found.write_text(FILE.format(folder=tmp_path))
    return found


def shown(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, tuple[str, str]]:
    assert main(["config", *map(str, words)]) == 0
    rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    return {name: (value, origin) for name, value, origin in rows}


def test_options_go_before_variables_before_the_file_before_defaults(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPSHELF_DATA", str(tmp_path / "other"))
    found = shown(capsys, "--config", path, "--port", "8000", "--trusted-proxy", "::1")
    assert found["config"] == (str(path), "option")
    assert found["port"] == ("8000", "option")
    assert found["trusted-proxy"] == ("::1", "option")
    assert found["data"] == (str(tmp_path / "other"), "MAPSHELF_DATA")
    assert found["base-url"] == ("https://maps.example.org", "file")
    assert found["private"] == ("true", "file")
    assert found["folders"] == (f"{tmp_path}/a, {tmp_path}/b", "file")
    assert found["host"] == ("127.0.0.1", "default")
    assert "version" not in found


def test_secrets_are_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, "zyxw")
    monkeypatch.setenv("MAPSHELF_DATABASE", "postgresql://bob:zyxw@db/maps")
    found = shown(capsys)
    assert found["database"] == ("postgresql://bob@db/maps", "MAPSHELF_DATABASE")
    assert found["oidc-client-secret"][1] == SECRET
    assert "zyxw" not in repr(found)


@pytest.mark.parametrize("by_file", [False, True])
def test_an_ignored_database_is_reported_and_not_shown_as_the_source(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    by_file: bool,
) -> None:
    database = "postgresql://bob:zyxw@db/maps"
    file = tmp_path / "mapshelf.toml"
    file.write_text(f'database = "{database}"' if by_file else "")

    def began() -> None:
        """Restore the variable, which commands set from the file."""
        monkeypatch.setenv("MAPSHELF_DATABASE", "" if by_file else database)

    began()
    source = "file" if by_file else "MAPSHELF_DATABASE"
    assert shown(capsys, "--config", file)["database"] == ("postgresql://bob@db/maps", source)
    folder = tmp_path / "data"
    open_store(sqlite_url(folder), create=True).close()
    for command, options in (("config", ()), ("user", ("list",))):
        began()
        words = (command, *options, "--config", file, "--data", folder)
        assert main([*map(str, words)]) == 0
        said = capsys.readouterr()
        (line,) = said.err.splitlines()
        place = str(file) if by_file else source
        assert line.startswith(f"mapshelf: the database in {place} is ignored because of --data")
        assert str(folder) in line
        assert "zyxw" not in line
        if command == "config":
            assert f"database\t{sqlite_url(folder)}\toption" in said.out
    began()
    monkeypatch.setenv("MAPSHELF_DATA", str(folder))
    assert shown(capsys, "--config", file)["database"] == ("postgresql://bob@db/maps", source)
    other = ("--database", sqlite_url(folder))
    assert main(["user", "list", "--config", str(file), "--data", str(folder), *other]) == 0
    assert not capsys.readouterr().err


def test_an_unknown_home_folder_is_reported_whatever_the_variables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for database in ("", "postgresql://db/maps"):
        monkeypatch.setenv("MAPSHELF_DATABASE", database)
        assert main(["config", "--data", "~nobody-here/x"]) == 2
        said = capsys.readouterr().err
        assert said == "mapshelf: the home folder in '~nobody-here/x' does not exist\n"


@pytest.mark.parametrize("text", ['folders = ["~nobody-here/x"]', 'backup-dir = "~nobody-here/x"'])
def test_an_unknown_home_folder_in_the_file_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with closing(open_store(sqlite_url(tmp_path))):
        pass
    assert main(["check", "--config", str(path), "--data", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said == "mapshelf: the home folder in '~nobody-here/x' does not exist\n"


def test_a_database_in_the_data_folder_has_the_source_of_the_folder(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(capsys)["database"][1] == "default"
    assert shown(capsys, "--data", tmp_path)["database"] == (sqlite_url(tmp_path), "option")
    assert shown(capsys, "--config", path)["database"] == (sqlite_url(tmp_path / "data"), "file")
    monkeypatch.setenv("MAPSHELF_DATA", str(tmp_path))
    assert shown(capsys)["database"] == (sqlite_url(tmp_path), "MAPSHELF_DATA")


def test_the_commands_for_several_nodes_use_the_database_of_the_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text("utf-8")
    block = document.partition("```sh\n")[2].partition("```")[0]
    commands = 0
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            monkeypatch.setenv(name, value)
        if words[:2] == ["mapshelf", "serve"]:
            found = shown(capsys, *words[2:])
            assert found["database"][1] == "MAPSHELF_DATABASE"
            assert found["data"][0] == "/var/lib/mapshelf"
            commands += 1
    assert commands == 1


def test_other_commands_find_the_catalogue_through_the_file(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(path))
    assert main(["user", "add", "bob"]) == 0
    assert "https://maps.example.org/link/" in capsys.readouterr().out
    assert (tmp_path / "data" / "catalogue.db").exists()


@pytest.mark.parametrize(
    "text",
    [
        "x = ",
        "ports = 9000",
        "por = 9000",
        "data = 7",
        "port = 1.5",
        "host = {}",
        "folders = [1.5]",
        'folders = [""]',
        'data = "a\\u0000b"',
        'database = "sqlite:///\\u0000"',
        'folders = ["\\u0000"]',
        "port = " + "9" * 5000,
        "port = 0x" + "f" * 5000,
        "port = " + "[" * 2000 + "]" * 2000,
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_is_wrong_is_refused_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    assert main(["config", "--config", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line


def test_a_file_that_is_not_there_and_a_wrong_value_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "--config", str(tmp_path / "none")]) == 2
    (tmp_path / "wrong.toml").write_text("port = 70000")
    capsys.readouterr()
    assert main(["config", "--config", str(tmp_path / "wrong.toml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"mapshelf: {tmp_path / 'wrong.toml'}: ")
    assert "--port: must be a number from 1 to 65535, not '70000'" in line


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("port = true", "port needs a value, not true or false"),
        ('private = "yes"', "private must be true or false"),
        ("port = [9000, 9001]", "port must be one value, not a list"),
        ("trusted-proxy = true", "trusted-proxy needs a value, not true or false"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_in_plain_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, fault: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    assert main(["config", "--config", str(path)]) == 2
    assert capsys.readouterr().err == f"mapshelf: {path}: {fault}\n"


def test_options_may_be_abbreviated(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "--conf", path, "--trusted", "::1", "--por=8000")
    assert found["config"] == (str(path), "option")
    assert found["private"] == ("true", "file")
    assert found["trusted-proxy"] == ("::1", "option")
    assert found["port"] == ("8000", "option")
    assert shown(capsys, f"--conf={path}")["port"] == ("9000", "file")


def test_an_option_of_the_file_can_be_set_back_to_its_default(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text("drain = 30")
    assert shown(capsys, "--config", path)["drain"] == ("30", "file")
    assert shown(capsys, "--config", path, "--drain", "0")["drain"] == ("0", "option")


def test_how_many_backups_are_kept_is_shown_if_there_are_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(capsys)["backup-keep"] == ("", "default")
    assert shown(capsys, "--backup-dir", tmp_path)["backup-keep"] == ("7", "default")
    more = shown(capsys, "--backup-dir", tmp_path, "--backup-keep", "3")
    assert more["backup-keep"] == ("3", "option")


def test_an_invalid_base_url_is_the_only_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    path.write_text('base-url = "ftp://x"')
    assert main(["config", "--config", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "'ftp://x'" in said.err


def test_no_command_uses_another_catalogue_because_a_key_is_mistyped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPSHELF_DATA", str(tmp_path / "data"))
    path = tmp_path / "mapshelf.toml"
    path.write_text(f'databse = "sqlite:///{tmp_path}/maps.db"')
    assert main(["user", "add", "bob", "--config", str(path)]) == 2
    assert capsys.readouterr().err == f"mapshelf: {path}: there is no option 'databse'\n"
    assert not (tmp_path / "data").exists()


def test_rate_limits_are_shown_as_they_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mapshelf.toml"
    path.write_text('rate-limit = ["recommended", "api=600/60", "pages=off"]')
    assert shown(capsys, "--config", path)["rate-limit"] == (
        "recommended, api=600/60, pages=off",
        "file",
    )


@pytest.mark.parametrize(
    "word", ["600/60", "api", "api=600", "api=0/60", "api=6/0", "maps=6/60", "api=1000001/1", "off"]
)
def test_malformed_rate_limits_are_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["config", "--rate-limit", word])
    assert "--rate-limit" in capsys.readouterr().err


# -- check ----------------------------------------------------------------------------------


def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> tuple[int, list[str]]:
    """Check a catalogue with a configuration file; return exit code and faults."""
    path = tmp_path / "checked.toml"
    path.write_text(text)
    data = str(tmp_path / "data")
    if not (tmp_path / "data").exists():
        open_store(sqlite_url(tmp_path / "data"), create=True).close()
    capsys.readouterr()
    code = main(["check", "--data", data, "--config", str(path)])
    said = capsys.readouterr()
    assert "store: " in said.out
    return code, said.err.splitlines()


def test_check_accepts_what_serve_accepts(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert checked(tmp_path, capsys, path.read_text()) == (0, [])
    assert checked(tmp_path, capsys, "") == (0, [])
    for origin in ("*", "", "https://example.org", "http://[::1]:8080", "moz-extension://0a-b"):
        assert checked(tmp_path, capsys, f'cors-origin = "{origin}"') == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("nonsense = 1", "there is no option 'nonsense'"),
        ("port = 70000", "argument --port: "),
        ("port = 1.5", "port must be a string, a whole number or a list of these"),
        ('registration = "all"', "argument --registration: "),
        ('folders = ["/nonexistent"]', "/nonexistent is not a folder"),
        ('owner = "bob"', "--owner, --category and --visibility"),
        ('trusted-proxy = ["nobody"]', "'nobody'"),
        ('base-url = "ftp://x"', "'ftp://x'"),
        ('oidc-issuer = "https://id.example"', "--oidc-issuer needs --oidc-client-id"),
        ("backup-keep = 3", "--backup-keep"),
        # Browsers never send such an origin, so no page could call the API.
        ('cors-origin = "example.org"', "like https://example.org"),
        ('cors-origin = "https://example.org/"', "like https://example.org"),
        ('cors-origin = "https://Example.org"', "like https://example.org"),
        ('cors-origin = "https://a.example https://b.example"', "like https://example.org"),
        ('cors-origin = "https://exämple.org"', "like https://example.org"),
    ],
)
def test_check_reports_what_serve_would_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, fault: str
) -> None:
    code, (line,) = checked(tmp_path, capsys, text)
    assert code == 1
    assert line.startswith("mapshelf: ")
    assert fault in line


def test_check_includes_environment_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPSHELF_BASE_URL", "ftp://x")
    code, (line,) = checked(tmp_path, capsys, "")
    assert code == 1
    assert "'ftp://x'" in line


def test_check_reports_unknown_keys_the_first_other_fault_and_store_faults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'one = 1\ntwo = 2\nport = 70000\nbase-url = "https://maps.example.org"'
    code, lines = checked(tmp_path, capsys, text)
    assert code == 1
    assert ["'one'" in lines[0], "'two'" in lines[1], "--port" in lines[2]] == [True] * 3
    (tmp_path / "data" / "catalogue.db").unlink()
    path = tmp_path / "checked.toml"
    assert main(["check", "--data", str(tmp_path / "data"), "--config", str(path)]) == 1
    *settings, store = capsys.readouterr().err.splitlines()
    assert settings == lines
    assert "there is no catalogue" in store
