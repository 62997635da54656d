package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const weightCheckSelect = `SELECT wc.id, wc.policy_id, wc.iteration_id, wc.occasion, wc.result, wc.distance, wc.tolerance, wc.doubts, wc.note, wc.fingerprints, wc.at
	FROM weight_checks wc `

// storedFingerprint is a fingerprint as it is stored, with what REST does not show.
type storedFingerprint struct {
	relabel.Fingerprint
	Texts    []int32   `json:"texts,omitempty"`
	Tokens   []string  `json:"tokens,omitempty"`
	Logprobs []float32 `json:"logprobs,omitempty"`
}

func storedFingerprints(all []relabel.Fingerprint) []storedFingerprint {
	stored := []storedFingerprint{}
	for _, f := range all {
		f.BaseURL, f.Reason = validUTF8(f.BaseURL), validUTF8(f.Reason)
		tokens := slices.Clone(f.Tokens)
		for i, token := range tokens {
			tokens[i] = validUTF8(token)
		}
		stored = append(stored, storedFingerprint{f, f.Texts, tokens, f.Logprobs})
	}
	return stored
}

func readFingerprints(stored []storedFingerprint) (all []relabel.Fingerprint) {
	for _, s := range stored {
		f := s.Fingerprint
		f.Texts, f.Tokens, f.Logprobs = s.Texts, s.Tokens, s.Logprobs
		f.SHA256 = f.Hash()
		all = append(all, f)
	}
	return all
}

// AddWeightCheck stores a check. CodeConflict if its iteration does not exist.
func (s *Store) AddWeightCheck(ctx context.Context, c relabel.WeightCheck) error {
	c.ID = ensureID(c.ID)
	return s.retryTx(ctx, unlessCreated("weight_checks", c.ID), func(tx pgx.Tx, _ bool) error {
		return insertWeightCheck(ctx, tx, c)
	})
}

func insertWeightCheck(ctx context.Context, tx pgx.Tx, c relabel.WeightCheck) error {
	var doubts *[]relabel.Doubted
	if len(c.Doubts) > 0 {
		valid := slices.Clone(c.Doubts)
		for i, d := range valid {
			valid[i].Text = validUTF8(d.Text)
		}
		doubts = &valid
	}
	_, err := tx.Exec(ctx, `INSERT INTO weight_checks (id, policy_id, iteration_id, occasion, result, distance, tolerance, doubts, note, fingerprints)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		ensureID(c.ID), c.PolicyID, c.IterationID, c.Occasion, c.Result, c.Distance, c.Tolerance, doubts, validUTF8(c.Note), storedFingerprints(c.Fingerprints))
	return err
}

// weightCheckRow is a row of weight_checks.
type weightCheckRow struct {
	ID, PolicyID relabel.ID
	IterationID  *relabel.ID
	Occasion     relabel.WeightOccasion
	Result       relabel.WeightResult
	Distance     *float64
	Tolerance    float64
	Doubts       []relabel.Doubted
	Note         string
	Fingerprints []storedFingerprint
	At           time.Time
}

func (r weightCheckRow) check() relabel.WeightCheck {
	return relabel.WeightCheck{ID: r.ID, PolicyID: r.PolicyID, IterationID: r.IterationID, Occasion: r.Occasion, Result: r.Result, Distance: r.Distance,
		Tolerance: r.Tolerance, Doubts: r.Doubts, Note: r.Note, Fingerprints: readFingerprints(r.Fingerprints), At: r.At}
}

// ListWeightChecks lists checks, newest first.
func (s *Store) ListWeightChecks(ctx context.Context, f relabel.WeightFilter, limit int) ([]relabel.WeightCheck, error) {
	rows, err := listAll[weightCheckRow](ctx, s, weightCheckSelect+`WHERE ($1::uuid IS NULL OR wc.iteration_id = $1) AND ($2::uuid IS NULL OR wc.policy_id = $2)
		ORDER BY wc.at DESC, wc.id DESC LIMIT $3`, f.IterationID, f.PolicyID, limit)
	checks := make([]relabel.WeightCheck, 0, len(rows))
	for _, row := range rows {
		checks = append(checks, row.check())
	}
	return checks, err
}

// ExportWeightChecks returns the checks of the weights of a run's iterations of a kind before a time, by iteration number, the
// oldest first.
func (s *Store) ExportWeightChecks(ctx context.Context, run relabel.ID, kind relabel.IterationKind, before time.Time) (map[int][]relabel.WeightCheck, error) {
	type row struct {
		weightCheckRow
		Number int
	}
	rows, err := listAll[row](ctx, s, `SELECT checks.*, it.number FROM (`+weightCheckSelect+`) checks JOIN iterations it ON it.id = checks.iteration_id
		WHERE it.run_id = $1 AND it.kind = $2 AND it.benchmark_id IS NULL AND checks.at <= $3 ORDER BY checks.at, checks.id`, run, kind, before)
	checks := map[int][]relabel.WeightCheck{}
	for _, r := range rows {
		checks[r.Number] = append(checks[r.Number], r.check())
	}
	return checks, err
}

// ListEarlierWeights lists the newest check with a fingerprint of each student of the run's iterations for
// training, then the newest one of the policy elsewhere.
func (s *Store) ListEarlierWeights(ctx context.Context, run, policy relabel.ID, except *relabel.ID) ([]relabel.EarlierWeights, error) {
	type row struct {
		PolicyID     relabel.ID
		Policy       string
		Round        string
		Fingerprints []storedFingerprint
	}
	const selected = `SELECT policy_id, policy, round, fingerprints FROM (
		SELECT DISTINCT ON (wc.policy_id) wc.policy_id, po.name || '@' || po.version AS policy, it.kind || ' ' || it.number AS round, wc.fingerprints, wc.at
		FROM weight_checks wc JOIN policies po ON po.id = wc.policy_id JOIN iterations it ON it.id = wc.iteration_id
		WHERE it.run_id = $1 AND it.kind <> 'evaluate' AND it.benchmark_id IS NULL AND it.id IS DISTINCT FROM $3::uuid AND ` + hasFingerprint + `
		ORDER BY wc.policy_id, wc.at DESC) rounds
		UNION ALL
		SELECT * FROM (SELECT wc.policy_id, po.name || '@' || po.version, '', wc.fingerprints
		FROM weight_checks wc JOIN policies po ON po.id = wc.policy_id WHERE wc.policy_id = $2 AND ` + hasFingerprint + ` ORDER BY wc.at DESC LIMIT 1) own`
	rows, err := listAll[row](ctx, s, selected, run, policy, except)
	all := make([]relabel.EarlierWeights, 0, len(rows))
	for _, r := range rows {
		all = append(all, relabel.EarlierWeights{PolicyID: r.PolicyID, Policy: r.Policy, Round: r.Round, Fingerprints: readFingerprints(r.Fingerprints)})
	}
	return all, err
}

// hasFingerprint selects checks wc with a fingerprint and without a doubt that was not allowed.
const hasFingerprint = `wc.fingerprints::jsonb @? '$[*].texts' AND NOT coalesce(wc.doubts::jsonb @? '$[*] ? (!exists(@.allowed))', false)`

// ListAddressUsers lists running iterations whose student or teacher is at one of the addresses.
func (s *Store) ListAddressUsers(ctx context.Context, bases []string) ([]string, error) {
	users, err := readColumn[string](ctx, s.pool, `SELECT DISTINCT ru.name || ', ' || it.kind || ' ' || it.number FROM iterations it JOIN runs ru ON ru.id = it.run_id
		JOIN policies po ON po.id IN (it.student_id, ru.teacher_id)
		WHERE it.state = 'running' AND (po.base_url = ANY ($1) OR po.replicas && $1) ORDER BY 1`, bases)
	return users, classify(err)
}

// ListLoaded returns the names of the adapters that relabel loaded, and whether each is in use.
func (s *Store) ListLoaded(ctx context.Context) (map[string]bool, error) {
	byHash, err := readMap[string, bool](ctx, s.pool, `SELECT loaded.sha256, EXISTS (SELECT FROM policies po
			WHERE (po.weights->>'sha256' = loaded.sha256 OR po.model LIKE '%' || $1 || left(loaded.sha256, 32))
			AND (NOT EXISTS (SELECT FROM policies newer WHERE newer.name = po.name AND newer.version > po.version)
			OR EXISTS (SELECT FROM iterations it JOIN runs ru ON ru.id = it.run_id WHERE it.state = 'running' AND po.id IN (it.student_id, ru.teacher_id))
			OR EXISTS (SELECT FROM relabelings WHERE policy_id = po.id AND state IN ('queued', 'running'))
			OR EXISTS (SELECT FROM scorings WHERE policy_id = po.id AND state IN ('queued', 'running'))
			OR EXISTS (SELECT FROM judgings WHERE policy_id = po.id AND state IN ('queued', 'running'))))
		FROM (SELECT DISTINCT weights->>'sha256' AS sha256 FROM policies WHERE weights->>'kind' = 'adapter') loaded`, relabel.LoadedName)
	if err != nil {
		return nil, classify(err)
	}
	used := map[string]bool{}
	for hash, inUse := range byHash {
		used[relabel.LoadedWeights{SHA256: hash}.Name()] = inUse
	}
	return used, nil
}

// ClaimWeightChecks returns the running iterations whose open trajectories need the student and whose last check by a
// worker began longer ago than the period.
func (s *Store) ClaimWeightChecks(ctx context.Context, period time.Duration) ([]relabel.Iteration, error) {
	return listAll[relabel.Iteration](ctx, s, `WITH due AS (
		INSERT INTO weight_watch (iteration_id, checked_at)
		SELECT it.id, clock_timestamp() FROM iterations it JOIN runs ru ON ru.id = it.run_id
		WHERE it.state = 'running' AND it.paused IS NULL AND ru.paused IS NULL AND EXISTS (SELECT FROM trajectories tr
			WHERE tr.iteration_id = it.id AND tr.state IN ('queued', 'running') AND tr.executors LIKE '%s%')
		ON CONFLICT (iteration_id) DO UPDATE SET checked_at = excluded.checked_at WHERE weight_watch.checked_at <= excluded.checked_at - $1::interval
		RETURNING iteration_id) `+iterationSelect+` WHERE it.id IN (SELECT iteration_id FROM due) ORDER BY it.id`, period)
}
