-- How many tokens prompt and answer may have together, as the policy's server was started;
-- 0: not known.
ALTER TABLE policies ADD COLUMN context_tokens integer NOT NULL DEFAULT 0 CHECK (context_tokens >= 0);
