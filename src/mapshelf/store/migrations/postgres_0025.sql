-- What names look like was computed in another way by former versions, as in sqlite_0025.sql.
UPDATE users SET skeleton = NULL;
