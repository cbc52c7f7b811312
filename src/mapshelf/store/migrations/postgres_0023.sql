-- What the name of a user looks like, as in sqlite_0023.sql. A skeleton may be too long for an
-- ordinary index, which finds the rows without one.
ALTER TABLE users ADD COLUMN skeleton text COLLATE "C";
CREATE INDEX users_skeleton ON users USING hash (skeleton);
CREATE INDEX users_without_skeleton ON users (id) WHERE skeleton IS NULL;
