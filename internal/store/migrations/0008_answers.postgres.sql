-- Neither is made any smaller by the database.
ALTER TABLE answer ALTER COLUMN body SET STORAGE EXTERNAL;
