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
