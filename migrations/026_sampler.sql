-- The whole sampler of a policy version. Null: the setting is not sent, as in all earlier versions,
-- and the server decides.
ALTER TABLE policies
    ADD COLUMN top_k                integer          CHECK (top_k = -1 OR top_k >= 1), -- -1: all tokens
    ADD COLUMN min_p                double precision CHECK (min_p BETWEEN 0 AND 1),
    ADD COLUMN repetition_penalty   double precision CHECK (repetition_penalty > 0),
    ADD COLUMN presence_penalty     double precision CHECK (presence_penalty BETWEEN -2 AND 2),
    ADD COLUMN frequency_penalty    double precision CHECK (frequency_penalty BETWEEN -2 AND 2),
    ADD COLUMN stop                 text[],  -- null: none
    ADD COLUMN chat_template_kwargs json,    -- an object; null: none
    ADD COLUMN logprobs             boolean; -- null: requested if the kind of server returns them

-- What was sent with a call: temperature, top_p, max_tokens and the settings above. Null: a call of
-- an earlier version. A line of a batch keeps it until its answer is recorded as a call.
ALTER TABLE calls ADD COLUMN sampling json;
ALTER TABLE label_batch_items ADD COLUMN sampling json;
