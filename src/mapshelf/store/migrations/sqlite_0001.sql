-- The catalogue. One row a thing; times are milliseconds since 1970-01-01 UTC.

CREATE TABLE sequence (
    only     INTEGER PRIMARY KEY CHECK (only = 1),
    identity TEXT NOT NULL,
    revision INTEGER NOT NULL,
    file_id  INTEGER NOT NULL
) STRICT;
INSERT INTO sequence VALUES (1, lower(hex(randomblob(16))), 0, 0);

CREATE TABLE users (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    name_key   TEXT NOT NULL UNIQUE,
    registered INTEGER NOT NULL,
    disabled   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tokens (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id   INTEGER NOT NULL REFERENCES users (id),
    digest    BLOB NOT NULL UNIQUE,
    label     TEXT NOT NULL,
    scopes    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    expires   INTEGER,
    revoked   INTEGER,
    last_used INTEGER
) STRICT;
CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE categories (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    name_key TEXT NOT NULL
) STRICT;
CREATE INDEX categories_name ON categories (name_key);

CREATE TABLE software (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE licence_types (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;

-- category stands beside category_id: an imported record keeps the name it came with.
CREATE TABLE maps (
    file_id         INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    title           TEXT NOT NULL,
    description     TEXT NOT NULL,
    thumbs_up       INTEGER NOT NULL,
    thumbs_down     INTEGER NOT NULL,
    views           INTEGER NOT NULL,
    downloads       INTEGER NOT NULL,
    thumbnail       TEXT,
    url             TEXT,
    category_id     INTEGER NOT NULL,
    category        TEXT NOT NULL,
    date_added      INTEGER NOT NULL,
    owner_id        INTEGER NOT NULL REFERENCES users (id),
    size            INTEGER,
    copyright       TEXT NOT NULL,
    licence_type_id INTEGER,
    software_id     INTEGER REFERENCES software (id),
    template        INTEGER NOT NULL,
    revision        INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX maps_owner ON maps (owner_id);

CREATE TABLE outlines (
    file_id INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    outline BLOB NOT NULL
) STRICT;

CREATE TABLE sources (
    path     BLOB PRIMARY KEY,
    file_id  INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    name     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    digest   BLOB NOT NULL
) STRICT;
CREATE INDEX sources_map ON sources (file_id);
CREATE INDEX sources_digest ON sources (digest);

-- The map files themselves, zlib-compressed; digest is the SHA-256 of what they unpack to.
CREATE TABLE files (
    file_id INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    digest  BLOB NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- Deleted maps: the feed tells of them, and their ids are not given again.
CREATE TABLE deleted (
    file_id  INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL UNIQUE
) STRICT;
