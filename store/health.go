package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// recentCalls sums up the last $2 calls of each policy of $1: all of them, and by the last
// address ("": none).
const recentCalls = `SELECT po.id, GROUPING(ca.base_url) = 1, coalesce(ca.base_url, ''), count(*), min(ca.started_at), count(*) FILTER (WHERE ca.error <> ''),
		count(*) FILTER (WHERE ca.tries > 1), sum(ca.tries),
		coalesce(percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ca.millis) FILTER (WHERE ca.error = ''), '{0,0}'),
		coalesce(percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ca.queue_millis) FILTER (WHERE ca.error = ''), '{0,0}')
	FROM unnest($1::uuid[]) po(id) JOIN LATERAL (SELECT rtrim(base_url, '/') AS base_url, started_at, error, tries, millis, queue_millis FROM calls
		WHERE policy_id = po.id ORDER BY started_at DESC LIMIT $2) ca ON true
	GROUP BY GROUPING SETS ((po.id), (po.id, ca.base_url)) ORDER BY 2 DESC, 3`

// ListHealth returns the health of policies, in their order.
func (s *Store) ListHealth(ctx context.Context, policies []relabel.Policy) ([]relabel.PolicyHealth, error) {
	ids, at, all := make([]relabel.ID, len(policies)), map[relabel.ID]int{}, make([]relabel.PolicyHealth, len(policies))
	for i, p := range policies {
		ids[i], at[p.ID], all[i] = p.ID, i, relabel.PolicyHealth{PolicyID: p.ID}
		for _, url := range p.BaseURLs() {
			all[i].Addresses = append(all[i].Addresses, addressHealth(url))
		}
	}
	rows, _ := s.pool.Query(ctx, recentCalls, ids, relabel.MaxRecentCalls)
	var policy relabel.ID
	var whole bool
	var url string
	var since time.Time
	var took, queued [2]int64
	var r relabel.RecentCalls
	_, err := pgx.ForEachRow(rows, []any{&policy, &whole, &url, &r.Calls, &since, &r.Failed, &r.Retried, &r.Tries, &took, &queued}, func() error {
		r.Since = new(since)
		r.Median, r.P95, r.QueueMedian, r.QueueP95 = took[0], took[1], queued[0], queued[1]
		if whole {
			all[at[policy]].Recent = r
		} else if url != "" {
			all[at[policy]].Addresses = addRecent(all[at[policy]].Addresses, url, r)
		}
		return nil
	})
	if err != nil {
		return nil, classify(err)
	}
	return all, s.addActivity(ctx, all)
}

// addressHealth starts the health of an address, normalized like the workers' addresses.
func addressHealth(url string) relabel.AddressHealth {
	return relabel.AddressHealth{EndpointActivity: relabel.EndpointActivity{URL: strings.TrimRight(url, "/")}}
}

func addRecent(addresses []relabel.AddressHealth, url string, r relabel.RecentCalls) []relabel.AddressHealth {
	for i := range addresses {
		if addresses[i].URL == url {
			addresses[i].Recent = r
			return addresses
		}
	}
	a := addressHealth(url)
	a.Recent = r
	return append(addresses, a)
}

// addActivity adds the endpoint activity of live workers.
func (s *Store) addActivity(ctx context.Context, all []relabel.PolicyHealth) error {
	workers, err := s.ListWorkers(ctx)
	said := map[string][]relabel.EndpointActivity{}
	for _, w := range workers {
		if w.Activity == nil || w.State == relabel.WorkerSilent {
			continue
		}
		for _, e := range w.Activity.Endpoints {
			said[e.URL] = append(said[e.URL], e)
		}
	}
	for i := range all {
		for j := range all[i].Addresses {
			a := &all[i].Addresses[j]
			for _, e := range said[a.URL] {
				a.Add(e)
			}
		}
	}
	return err
}

// ListFailedCalls lists a policy's last failed calls, newest first, at most limit, with the
// bodies of the errors.
func (s *Store) ListFailedCalls(ctx context.Context, policy relabel.ID, limit int) ([]relabel.Call, error) {
	return listAll[relabel.Call](ctx, s,
		callSelect+" WHERE policy_id = $1 AND error <> '' ORDER BY started_at DESC LIMIT $2", policy, limit)
}

// statusHolds is how long a worker's status of an endpoint is valid.
const statusHolds = 15 * time.Second

// downPolicies selects the ids of policies with all addresses down for the worker that an SQL
// expression names. The worker's own status decides; without one, an address is down if no
// other worker finds it up.
func downPolicies(worker string) string {
	return `(WITH statuses AS (SELECT base_url, worker, down FROM endpoint_status WHERE until > clock_timestamp()),
		urls AS (SELECT array_agg(base_url) AS down FROM (SELECT base_url FROM statuses GROUP BY base_url
			HAVING CASE WHEN bool_or(worker = ` + worker + `) THEN bool_or(worker = ` + worker + ` AND down IS NOT NULL) ELSE bool_and(down IS NOT NULL) END) known)
		SELECT po.id FROM policies po, urls WHERE rtrim(po.base_url, '/') = ANY (urls.down)
			AND NOT EXISTS (SELECT 1 FROM unnest(po.replicas) r WHERE NOT rtrim(r, '/') = ANY (urls.down)))`
}

func withDown(worker string) string { return "down AS MATERIALIZED " + downPolicies(worker) }

// heldBack joins iterations it and runs ru with what an outage holds back: rollouts whose
// executors may need the endpoint, and labels of the teacher.
const heldBack = ` CROSS JOIN LATERAL (SELECT it.student_id IN (SELECT id FROM down) AS student, it.kind = 'collect' AND ru.teacher_id IN (SELECT id FROM down) AS labels) is_down
	CROSS JOIN LATERAL (SELECT is_down.student AND (it.kind <> 'collect' OR coalesce(it.beta, 0) < 1)
		OR is_down.labels AND (it.rho IS NOT NULL OR it.beta > 0) AS rollouts) held_back `

// waitsForEndpoint selects trajectories tr that heldBack holds back.
const waitsForEndpoint = ` (CASE WHEN tr.end_reason IS NULL THEN held_back.rollouts ELSE is_down.labels AND tr.labels_pending > 0 END) `

// SeeEndpoints replaces the worker's statuses of endpoints.
func (s *Store) SeeEndpoints(ctx context.Context, worker string, statuses []relabel.EndpointStatus) error {
	urls, down := make([]string, len(statuses)), make([]*string, len(statuses))
	for i, e := range statuses {
		urls[i] = validUTF8(e.URL)
		if e.Down != "" {
			down[i] = new(validUTF8(e.Down))
		}
	}
	return s.retryBatch(ctx, func(b *pgx.Batch) {
		b.Queue("DELETE FROM endpoint_status WHERE worker = $1 AND NOT base_url = ANY ($2) OR until < clock_timestamp() - $3::interval", worker, urls, forgottenAfter)
		b.Queue(`INSERT INTO endpoint_status (base_url, worker, down, until)
			SELECT url, $1, down, clock_timestamp() + $4::interval FROM unnest($2::text[], $3::text[]) AS n(url, down)
			ON CONFLICT (base_url, worker) DO UPDATE SET down = excluded.down, until = excluded.until,
				since = CASE WHEN (endpoint_status.down IS NULL) = (excluded.down IS NULL) AND endpoint_status.until > clock_timestamp()
					THEN endpoint_status.since ELSE excluded.since END`, worker, urls, down, statusHolds)
	})
}

// ListOutages lists the policies that running iterations wait for, with the number of waiting
// trajectories; run nil: of all runs.
func (s *Store) ListOutages(ctx context.Context, run *relabel.ID) ([]relabel.Outage, error) {
	return listAll[relabel.Outage](ctx, s, "WITH "+withDown("''")+`, waiting AS (
			SELECT it.id, it.created_at, CASE WHEN is_down.student THEN it.student_id END AS student, CASE WHEN is_down.labels THEN ru.teacher_id END AS teacher,
				(SELECT count(*) FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued' AND `+waitsForEndpoint+`) AS n
			FROM iterations it JOIN runs ru ON ru.id = it.run_id`+heldBack+`
			WHERE it.state = 'running' AND ($1::uuid IS NULL OR it.run_id = $1) AND (is_down.student OR is_down.labels))
		SELECT w.id AS iteration_id, roles.role, po.name || '@' || po.version AS policy, po.base_url AS url,
			coalesce(seen.reason, '') AS reason, coalesce(seen.since, clock_timestamp()) AS since, w.n AS waiting
		FROM waiting w CROSS JOIN LATERAL (VALUES ('student', w.student), ('teacher', w.teacher)) roles(role, policy_id)
		JOIN policies po ON po.id = roles.policy_id
		LEFT JOIN LATERAL (SELECT min(down) AS reason, min(since) AS since FROM endpoint_status
			WHERE base_url = rtrim(po.base_url, '/') AND down IS NOT NULL AND until > clock_timestamp()) seen ON true
		WHERE w.n > 0 ORDER BY w.created_at DESC, w.id, roles.role`, run)
}
