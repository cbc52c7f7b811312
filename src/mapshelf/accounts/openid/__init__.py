"""Signing in by an OpenID provider (OpenID Connect Core 1.0, authorization code flow).

``attempt.py`` is what a browser carries to the provider and back, ``provider.py`` asks the
provider, ``id_tokens.py`` verifies what it says, ``sign_in.py`` finds or makes the account.
"""
