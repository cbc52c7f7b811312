-- When the maps of files in folders were added to this catalogue. The column date_added is the date
-- in the file if it was found by the first import of its folder. Maps from before this table count
-- as added long ago.
CREATE TABLE additions (
    file_id INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    added   INTEGER NOT NULL
) STRICT;
