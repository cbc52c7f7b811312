-- Maps whose files are all missing from their folder: they come back with their file, or are deleted
-- in the end. visibility is that of before. In sources, the time -2 marks a missing file.
CREATE TABLE missing (
    file_id    INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    visibility TEXT NOT NULL,
    since      INTEGER NOT NULL
) STRICT;
