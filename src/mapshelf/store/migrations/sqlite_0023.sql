-- What the name of a user looks like (``text/skeleton.py``), to refuse names that look like it.
-- The migration fills it in; NULL in rows that a former version has added since.
ALTER TABLE users ADD COLUMN skeleton TEXT;
CREATE INDEX users_skeleton ON users (skeleton);
