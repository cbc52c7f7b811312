-- What the last transfer to or from another database left behind, as in sqlite_0029.sql.
CREATE TABLE last_transfer (
    id   integer PRIMARY KEY CHECK (id = 1),
    note text NOT NULL
);
