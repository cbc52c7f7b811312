"""Options for external sign-in: which belong together, and which values are refused."""

from pathlib import Path

import pytest

from mapshelf.cli import main
from mapshelf.cli.sign_in_options import SECRET

ISSUER = ("--oidc-issuer", "https://id.example")
CLIENT = ("--oidc-client-id", "mapshelf")
PROXY = ("--trusted-proxy", "127.0.0.1")
HEADER = ("--proxy-user-header", "X-Remote-User")


@pytest.fixture(autouse=True)
def _no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET, raising=False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (CLIENT, "--oidc-client-id needs --oidc-issuer"),
        (("--oidc-auto-create",), "--oidc-auto-create needs --oidc-issuer"),
        (("--oidc-name", "x"), "--oidc-name needs --oidc-issuer"),
        (("--oidc-client-secret-file", "x"), "--oidc-client-secret-file needs --oidc-issuer"),
        (ISSUER, "needs --oidc-client-id"),
        ((*ISSUER, *CLIENT), "needs --oidc-client-secret-file"),
        (
            (*ISSUER, *CLIENT, "--oidc-client-secret-file", "/nowhere"),
            "from /nowhere: No such file",
        ),
        ((*ISSUER, *CLIENT, "--oidc-client-secret-file", "/dev/null"), "needs --oidc-client"),
        (("--oidc-issuer", "http://id.example", *CLIENT), "by https"),
        (("--oidc-issuer", "ftp://127.0.0.1", *CLIENT), "by https"),
        (("--oidc-issuer", "https://", *CLIENT), "by https"),
        (("--oidc-issuer", "https://id.example#x", *CLIENT), "by https"),
        (("--oidc-issuer", "https://id.example?x=y", *CLIENT), "must not have a query"),
        (("--oidc-issuer", "https://a:b@id.example", *CLIENT), "by https"),
        (("--oidc-issuer", "https://id.example:x", *CLIENT), "is not a URL"),
        (HEADER, "needs --trusted-proxy"),
        (("--proxy-auto-create",), "--proxy-auto-create needs --proxy-user-header"),
        ((*HEADER, *PROXY, "--registration", "open"), "with --registration open: somebody"),
        ((*HEADER, *PROXY, "--registration", "invite"), "with --registration invite: somebody"),
        (("--proxy-user-header", "Authorization", *PROXY), "cannot be"),
        (("--proxy-user-header", "X User", *PROXY), "cannot be"),
        (("--proxy-user-header", "", *PROXY), "cannot be"),
    ],
)
def test_incomplete_or_unsafe_sign_in_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    assert main(["serve", "--data", str(tmp_path), "--port", "1", *options]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    "ways", [("--registration", "invite"), (*ISSUER, *CLIENT, "--oidc-auto-create")]
)
def test_names_come_from_the_proxy_alone(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    ways: tuple[str, ...],
) -> None:
    monkeypatch.setenv(SECRET, "secret")
    file = tmp_path / "mapshelf.toml"
    file.write_text('trusted-proxy = ["127.0.0.1"]\nproxy-user-header = "X-Remote-User"\n')
    for command in ("config", "serve"):
        options = ("--data", str(tmp_path), "--config", str(file), "--port", "1", *ways)
        assert main([command, *options]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "--proxy-user-header cannot be used with" in said.err
        assert len(said.err.splitlines()) == 1
    assert main(["config", "--data", str(tmp_path), "--config", str(file)]) == 0
