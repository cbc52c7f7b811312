"""Signing in by an OpenID provider (OpenID Connect Core 1.0, authorization code flow).

``attempt.py`` holds the state that a browser carries to the provider and back, ``provider.py``
sends requests to the provider, ``id_tokens.py`` verifies ID tokens, and ``sign_in.py`` finds or
creates the account.
"""
