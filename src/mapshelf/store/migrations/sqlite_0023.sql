-- What the name of a user looks like (``text/skeleton.py``), to refuse names that look like it.
-- Rows of former versions have NULL until the next user registers.
ALTER TABLE users ADD COLUMN skeleton TEXT;
CREATE INDEX users_skeleton ON users (skeleton);
