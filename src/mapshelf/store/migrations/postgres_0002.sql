-- What it takes to count visits once, as in sqlite_0002.sql. Keys and salts are not logged, so that
-- none gets into the write-ahead log, and from there into archives, standbys and base backups. A
-- crash of the server forgets them: then a visit of that hour may count twice.

CREATE UNLOGGED TABLE visits (
    hour bigint NOT NULL,
    key  bytea NOT NULL,
    PRIMARY KEY (hour, key)
);

CREATE UNLOGGED TABLE salts (
    day  bigint PRIMARY KEY,
    salt bytea NOT NULL
);

CREATE TABLE tallies (
    file_id   bigint PRIMARY KEY,
    views     bigint NOT NULL,
    downloads bigint NOT NULL,
    since     bigint NOT NULL
);
CREATE INDEX tallies_since ON tallies (since);
