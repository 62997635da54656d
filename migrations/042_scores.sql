-- Lists of trajectories by their score, and of those whose answer names a gold location or not.
CREATE INDEX trajectories_by_score ON trajectories (iteration_id, score, id) WHERE score IS NOT NULL;
CREATE INDEX trajectories_by_hit ON trajectories ((hits > 0), created_at DESC, id DESC) WHERE hits IS NOT NULL;

CREATE OR REPLACE FUNCTION webhook_trajectories(iteration uuid) RETURNS json LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT json_build_object('trajectories', (SELECT json_object_agg(x.state, x.n ORDER BY x.state)
            FROM (SELECT state, count(*) AS n FROM trajectories WHERE iteration_id = iteration GROUP BY state) x),
        'turns', sum(turns), 'labels_received', sum(labels_received), 'labels_missing', sum(labels_missing),
        'submitted', count(*) FILTER (WHERE submitted), 'resolved', count(*) FILTER (WHERE resolved),
        'passed_unsubmitted', count(*) FILTER (WHERE passed AND NOT submitted),
        'scored', count(score), 'hit', count(*) FILTER (WHERE hits > 0), 'mean_score', avg(score))
    FROM trajectories WHERE iteration_id = iteration
$$;

---- create above / drop below ----

CREATE OR REPLACE FUNCTION webhook_trajectories(iteration uuid) RETURNS json LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT json_build_object('trajectories', (SELECT json_object_agg(x.state, x.n ORDER BY x.state)
            FROM (SELECT state, count(*) AS n FROM trajectories WHERE iteration_id = iteration GROUP BY state) x),
        'turns', sum(turns), 'labels_received', sum(labels_received), 'labels_missing', sum(labels_missing),
        'submitted', count(*) FILTER (WHERE submitted), 'resolved', count(*) FILTER (WHERE resolved),
        'passed_unsubmitted', count(*) FILTER (WHERE passed AND NOT submitted))
    FROM trajectories WHERE iteration_id = iteration
$$;
DROP INDEX trajectories_by_hit, trajectories_by_score;
