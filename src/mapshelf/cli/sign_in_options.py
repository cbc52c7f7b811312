"""Options for signing in through others: an OpenID provider or a proxy.

The secret of a provider comes from a file or from the environment, because every user of the
machine can read the command line.
"""

import argparse
import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mapshelf.accounts.openid.provider_urls import checked_url
from mapshelf.cli.argument_types import one_line
from mapshelf.errors import InvalidSetting
from mapshelf.settings import ProviderSettings, ProxyUserSettings, Registration

SECRET: Final = "MAPSHELF_OIDC_CLIENT_SECRET"  # noqa: S105 - the name of a variable

_HEADER: Final = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
_OF_CLIENTS: Final = frozenset(
    {"authorization", "cookie", "host", "origin", "user-agent", "x-csrf-token", "x-forwarded-for"}
)
"""Headers with another meaning, which clients may send."""


def add_sign_in_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--oidc-issuer",
        metavar="URL",
        type=one_line,
        help="OpenID provider for signing in",
    )
    parser.add_argument(
        "--oidc-client-id",
        metavar="ID",
        type=one_line,
        help="client ID that the provider assigned to this service",
    )
    parser.add_argument(
        "--oidc-client-secret-file",
        metavar="FILE",
        type=Path,
        help=f"file with the client secret from the provider (or {SECRET}, the secret itself)",
    )
    parser.add_argument(
        "--oidc-name",
        metavar="NAME",
        type=one_line,
        help="name of the provider on the sign-in button; default: its host",
    )
    parser.add_argument(
        "--oidc-auto-create",
        action="store_true",
        help="create an account for anyone the provider signs in",
    )
    parser.add_argument(
        "--proxy-user-header",
        metavar="NAME",
        help="header in which a --trusted-proxy sends the name of the signed-in user",
    )
    parser.add_argument(
        "--proxy-auto-create",
        action="store_true",
        help="create an account for any user the proxy names",
    )


def provider_settings(given: argparse.Namespace) -> ProviderSettings | None:
    """Return the OpenID provider, ``None`` if there is none.

    Raises:
        InvalidSetting: an option is wrong or missing.
    """
    if given.oidc_issuer is None:
        for name in ("client_id", "client_secret_file", "name", "auto_create"):
            if getattr(given, f"oidc_{name}"):
                option = name.replace("_", "-")
                raise InvalidSetting(f"--oidc-{option} needs --oidc-issuer")
        return None
    if not given.oidc_client_id:
        raise InvalidSetting("--oidc-issuer needs --oidc-client-id")
    parts = checked_url(given.oidc_issuer)
    if parts.query:
        raise InvalidSetting("--oidc-issuer must not have a query")
    return ProviderSettings(
        issuer=given.oidc_issuer,
        client_id=given.oidc_client_id,
        client_secret=_secret(given.oidc_client_secret_file),
        name=given.oidc_name or urlsplit(given.oidc_issuer).netloc,
        auto_create=given.oidc_auto_create,
    )


def proxy_user_settings(given: argparse.Namespace) -> ProxyUserSettings | None:
    """Return the header in which a proxy names the user, ``None`` if none does.

    Raises:
        InvalidSetting: an option is wrong or missing.
    """
    if given.proxy_user_header is None:
        if given.proxy_auto_create:
            raise InvalidSetting("--proxy-auto-create needs --proxy-user-header")
        return None
    if not given.trusted_proxy:
        raise InvalidSetting("--proxy-user-header needs --trusted-proxy: anyone can send it")
    _check_names_come_from_the_proxy(given)
    name = given.proxy_user_header.lower()
    if not _HEADER.fullmatch(name) or name in _OF_CLIENTS:
        raise InvalidSetting(f"--proxy-user-header cannot be {given.proxy_user_header!r}")
    return ProxyUserSettings(name.encode(), given.proxy_auto_create)


def _check_names_come_from_the_proxy(given: argparse.Namespace) -> None:
    """Check that people get no names except from the proxy.

    Raises:
        InvalidSetting: somebody could take a name before the proxy signs in the one whose it is,
            and keep a password for that account.
    """
    other = ""
    if given.registration != Registration.CLOSED:
        other = f"--registration {given.registration}"
    elif given.oidc_auto_create:
        other = "--oidc-auto-create"
    if other:
        raise InvalidSetting(
            f"--proxy-user-header cannot be used with {other}: somebody could take the name of"
            " another whom the proxy signs in"
        )


def _secret(file: Path | None) -> str:
    if file is None:
        secret = os.environ.get(SECRET, "")
    else:
        try:
            secret = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise InvalidSetting(
                f"the secret of the provider cannot be read from {file}: {reason}"
            ) from error
    if not secret or not secret.isprintable():
        raise InvalidSetting(f"--oidc-issuer needs --oidc-client-secret-file, or {SECRET}")
    return secret
