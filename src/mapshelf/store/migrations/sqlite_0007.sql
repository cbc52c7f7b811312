-- Programs that people let in (OAuth 2).

-- secret is the SHA-256 of the secret, NULL for a public program. Spaces separate redirect_uris.
CREATE TABLE programs (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL,
    secret        BLOB,
    redirect_uris TEXT NOT NULL,
    legacy        INTEGER NOT NULL CHECK (legacy IN (0, 1)),
    created       INTEGER NOT NULL
) STRICT;

CREATE TABLE grants (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    program_id TEXT NOT NULL REFERENCES programs (id),
    scopes     TEXT NOT NULL,
    created    INTEGER NOT NULL,
    expires    INTEGER NOT NULL
) STRICT;
CREATE INDEX grants_user ON grants (user_id);
CREATE INDEX grants_program ON grants (program_id);

-- Access tokens are tokens like others, and go with their grant.
ALTER TABLE tokens ADD COLUMN grant_id INTEGER REFERENCES grants (id);
CREATE INDEX tokens_grant ON tokens (grant_id) WHERE grant_id IS NOT NULL;

-- used is when the code was exchanged; then grant_id is what it gave, as long as that is there.
CREATE TABLE authorization_codes (
    digest       BLOB PRIMARY KEY,
    program_id   TEXT NOT NULL REFERENCES programs (id),
    user_id      INTEGER NOT NULL REFERENCES users (id),
    scopes       TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    expires      INTEGER NOT NULL,
    used         INTEGER,
    grant_id     INTEGER REFERENCES grants (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX authorization_codes_user ON authorization_codes (user_id);
CREATE INDEX authorization_codes_program ON authorization_codes (program_id);
CREATE INDEX authorization_codes_grant ON authorization_codes (grant_id);

CREATE TABLE refresh_tokens (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    digest   BLOB NOT NULL UNIQUE,
    grant_id INTEGER NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    expires  INTEGER NOT NULL,
    used     INTEGER
) STRICT;
CREATE INDEX refresh_tokens_grant ON refresh_tokens (grant_id);

-- user_id is who has let the program in; polled is when the program last asked.
CREATE TABLE device_requests (
    digest     BLOB PRIMARY KEY,
    user_code  TEXT NOT NULL UNIQUE,
    program_id TEXT NOT NULL REFERENCES programs (id),
    scopes     TEXT NOT NULL,
    expires    INTEGER NOT NULL,
    user_id    INTEGER REFERENCES users (id),
    denied     INTEGER NOT NULL CHECK (denied IN (0, 1)),
    polled     INTEGER
) STRICT;
CREATE INDEX device_requests_expires ON device_requests (expires);
CREATE INDEX device_requests_program ON device_requests (program_id);
CREATE INDEX device_requests_user ON device_requests (user_id);
