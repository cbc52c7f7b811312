-- What people search for again and again, under a name. parameters are those of a list of maps, as
-- a query string.
CREATE TABLE saved_searches (
    id         TEXT PRIMARY KEY,
    owner_id   INTEGER NOT NULL REFERENCES users (id),
    name       TEXT NOT NULL,
    parameters TEXT NOT NULL,
    created    INTEGER NOT NULL,
    changed    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_searches_owner ON saved_searches (owner_id);
