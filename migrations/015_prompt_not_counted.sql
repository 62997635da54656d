-- Why a prompt near its limit was estimated and not counted; '' where it was counted, or was
-- not near.
ALTER TABLE calls ADD COLUMN prompt_not_counted text NOT NULL DEFAULT '';
