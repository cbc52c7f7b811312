-- The run of the server, and the table, that the mark was chosen in. In another, some tokens that
-- nodes or standbys know may be gone: a backup may have been put in the place of the database.
ALTER TABLE token_mark ADD COLUMN run text NOT NULL DEFAULT '';
