-- What workers report of endpoints gets the name that the code uses.
ALTER TABLE endpoint_sights RENAME TO endpoint_status;
