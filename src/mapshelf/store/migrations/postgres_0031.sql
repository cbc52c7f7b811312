-- The run of the server in which the mark was chosen, with the database and the table. In another
-- run, some tokens that nodes or standbys know may be gone: a backup may have taken the place of the
-- database.
ALTER TABLE token_mark ADD COLUMN run text NOT NULL DEFAULT '';
