-- Maps that are not published because they inherited that from another one with the same content:
-- original is the file_id of that one, digest that content, and visibility what they would have
-- without it. Maps from before this table count as if people had decided about them.
CREATE TABLE inherited (
    file_id    INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    original   INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    visibility TEXT NOT NULL
) STRICT;
