-- More is read from files now, as in sqlite_0017.sql.
INSERT INTO outdated SELECT file_id FROM files ON CONFLICT DO NOTHING;
