package server_test

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"relabel"
	"relabel/server"
)

// memory is a store in memory that keeps the promises of server.Store.
type memory struct {
	mu            sync.Mutex
	tasksets      []relabel.Taskset
	tasks         []relabel.Task
	policies      []relabel.Policy
	benchmarks    []relabel.Benchmark
	runs          []relabel.Run
	iterations    []relabel.Iteration
	trajectories  []relabel.Trajectory
	workers       []relabel.Worker
	turns         map[relabel.ID][]relabel.Turn
	attempts      map[relabel.ID][]relabel.Attempt
	patches       map[relabel.ID][]byte
	verdicts      map[relabel.ID]relabel.Verdict
	regraded      []relabel.RegradeSelection
	calls         map[relabel.ID][]relabel.Call
	models        map[relabel.ID][]relabel.ModelSeen
	exports       []relabel.Export
	tokenizers    []relabel.Tokenizer
	conversations []relabel.ConversationSet
	reviews       []relabel.Review
	keys          map[string]relabel.Idempotent
	// tokenizerFiles are by their hash.
	tokenizerFiles map[string]relabel.TokenizerFiles
	tokens         map[string]relabel.Access
	// benchmarkTasks are by benchmark.
	benchmarkTasks map[relabel.ID][]relabel.ID
	exclusions     []relabel.Exclusion
	// exclusionEntries are by list.
	exclusionEntries map[relabel.ID][]string
	sessions         map[string]relabel.Access
	audit            []relabel.AuditEntry
	weightChecks     []relabel.WeightCheck
	slowDeletion     bool   // FinishDeletion waits until it is cancelled
	noAudit          error  // what BeginAudit fails with, if it is set
	broken           error  // what every call fails with, if it is set
	slow             func() // called while a policy is made, if it is set
}

func (m *memory) FindTime(ctx context.Context, id relabel.ID) (relabel.TimeReport, error) {
	_, err := m.FindTrajectory(ctx, id)
	return relabel.TimeReport{Attempts: 1, Spent: relabel.TimeSpent{Model: 30}, Ideal: 30, Actual: 40, Efficiency: relabel.Efficiency(30, 40)}, err
}

func (m *memory) ListTimes(ctx context.Context, run relabel.ID) (list []relabel.IterationTime, err error) {
	if _, err := m.FindRun(ctx, run); err != nil {
		return nil, err
	}
	its, err := m.ListIterations(ctx, run)
	for _, it := range its {
		one, _ := m.FindTime(ctx, it.ID)
		list = append(list, relabel.IterationTime{IterationID: it.ID, Number: it.Number, Kind: it.Kind, TimeReport: one})
	}
	return list, err
}

var _ server.Store = (*memory)(nil)

func newMemory() *memory {
	return &memory{exclusionEntries: map[relabel.ID][]string{}, benchmarkTasks: map[relabel.ID][]relabel.ID{}, turns: map[relabel.ID][]relabel.Turn{}, attempts: map[relabel.ID][]relabel.Attempt{}, patches: map[relabel.ID][]byte{},
		verdicts: map[relabel.ID]relabel.Verdict{}, calls: map[relabel.ID][]relabel.Call{}, models: map[relabel.ID][]relabel.ModelSeen{}, keys: map[string]relabel.Idempotent{}, tokenizerFiles: map[string]relabel.TokenizerFiles{}, tokens: map[string]relabel.Access{}, sessions: map[string]relabel.Access{}}
}

var errNone = relabel.Errorf(relabel.CodeNotFound, "the resource does not exist")

func find[T any](m *memory, items *[]T, match func(T) bool) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var none T
	if m.broken != nil {
		return none, m.broken
	}
	for i := len(*items) - 1; i >= 0; i-- {
		if match((*items)[i]) {
			return (*items)[i], nil
		}
	}
	return none, errNone
}

func add[T any](m *memory, items *[]T, item T) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	*items = append(*items, item)
	return nil
}

// page returns what matches, newest first, after the key.
func page[T any](m *memory, items []T, p relabel.Page, id func(T) relabel.ID, match func(T) bool) ([]T, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return nil, "", m.broken
	}
	if p.After != "" {
		if _, err := relabel.ParseID("after", p.After); err != nil {
			return nil, "", err
		}
	}
	if p.Limit == 0 {
		p.Limit = 50
	}
	var out []T
	for i := len(items) - 1; i >= 0; i-- {
		if key := id(items[i]).String(); match(items[i]) && (p.After == "" || strings.Compare(key, p.After) < 0) {
			if len(out) == p.Limit {
				return out, id(out[len(out)-1]).String(), nil
			}
			out = append(out, items[i])
		}
	}
	return out, "", nil
}

func (m *memory) CreateTaskset(_ context.Context, set relabel.Taskset, tasks iter.Seq2[relabel.Task, error]) error {
	if _, err := find(m, &m.tasksets, func(s relabel.Taskset) bool { return s.Name == set.Name }); err == nil {
		return relabel.Errorf(relabel.CodeConflict, "a taskset has this name").On("name")
	}
	set.CreatedAt = time.Now()
	set.Revision = 1
	var read []relabel.Task
	for task, err := range tasks {
		if err != nil {
			return err
		}
		task.TasksetID = set.ID
		read = append(read, task)
		if set.Tasks++; task.HeldOut {
			set.HeldOut++
		}
	}
	m.tasks = append(m.tasks, read...)
	return add(m, &m.tasksets, set)
}

func (m *memory) FindTaskset(_ context.Context, id relabel.ID) (relabel.Taskset, error) {
	return find(m, &m.tasksets, func(s relabel.Taskset) bool { return s.ID == id })
}

func (m *memory) FindTasksetAt(ctx context.Context, id relabel.ID, revision int) (relabel.Taskset, error) {
	if revision > 1 {
		return relabel.Taskset{}, relabel.Errorf(relabel.CodeNotFound, "no revision %d", revision)
	}
	return m.FindTaskset(ctx, id)
}

func (m *memory) ListTasksetRevisions(_ context.Context, taskset relabel.ID) ([]relabel.TasksetRevision, error) {
	return []relabel.TasksetRevision{{Revision: 1, Change: relabel.TasksImported}}, nil
}

func (m *memory) ReviseTasks(context.Context, relabel.ID, relabel.TasksetChange, []relabel.Task) (relabel.Taskset, error) {
	return relabel.Taskset{}, relabel.Errorf(relabel.CodeInternal, "the fake revises no taskset")
}

func (m *memory) AppendTasks(_ context.Context, set relabel.ID, _ string, tasks iter.Seq2[relabel.Task, error]) (added, unchanged int, err error) {
	for task, err := range tasks {
		if err != nil {
			return 0, 0, err
		}
		task.TasksetID = set
		m.tasks = append(m.tasks, task)
		added++
	}
	return added, 0, nil
}

func (m *memory) FindTasksetByName(_ context.Context, name string) (relabel.Taskset, error) {
	return find(m, &m.tasksets, func(s relabel.Taskset) bool { return s.Name == name })
}

func (m *memory) ListTasksets(_ context.Context, p relabel.Page) ([]relabel.Taskset, string, error) {
	return page(m, m.tasksets, p, func(s relabel.Taskset) relabel.ID { return s.ID }, func(relabel.Taskset) bool { return true })
}

func (m *memory) ListTasks(_ context.Context, set relabel.ID, _ int, p relabel.Page) ([]relabel.Task, string, error) {
	return page(m, m.tasks, p, func(t relabel.Task) relabel.ID { return t.ID }, func(t relabel.Task) bool { return t.TasksetID == set })
}

func (m *memory) ListTaskNames(_ context.Context, set relabel.ID, _ int) ([]relabel.Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []relabel.Task
	for _, t := range m.tasks {
		if t.TasksetID == set {
			all = append(all, relabel.Task{ID: t.ID, TasksetID: set, InstanceID: t.InstanceID, HeldOut: t.HeldOut})
		}
	}
	return all, m.broken
}

func (m *memory) FindTask(_ context.Context, id relabel.ID) (relabel.Task, error) {
	return find(m, &m.tasks, func(t relabel.Task) bool { return t.ID == id })
}

func (m *memory) FindTaskOf(ctx context.Context, trajectory relabel.ID) (relabel.Task, error) {
	t, err := m.FindTrajectory(ctx, trajectory)
	if err != nil {
		return relabel.Task{}, err
	}
	return m.FindTask(ctx, t.TaskID)
}

func (m *memory) CreatePolicy(_ context.Context, p relabel.Policy) (relabel.Policy, error) {
	if m.slow != nil {
		m.slow()
	}
	last, err := find(m, &m.policies, func(q relabel.Policy) bool { return q.Name == p.Name })
	p.Version, p.CreatedAt = last.Version+1, time.Now()
	if err == nil && last.BaseURL == p.BaseURL && last.Model == p.Model && reflect.DeepEqual(last.Sampling, p.Sampling) && last.Limits == p.Limits {
		return last, nil
	}
	return p, add(m, &m.policies, p)
}

func (m *memory) ListModels(_ context.Context, id relabel.ID) ([]relabel.ModelSeen, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.models[id], nil
}

func (m *memory) FindPolicy(_ context.Context, id relabel.ID) (relabel.Policy, error) {
	return find(m, &m.policies, func(p relabel.Policy) bool { return p.ID == id })
}

func (m *memory) FindTrained(_ context.Context, export relabel.ID) (relabel.TrainedOn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []relabel.TrainedOn
	for _, p := range m.policies {
		for _, on := range p.TrainedOn {
			if on.ExportID == export {
				found = append(found, on)
			}
		}
	}
	if len(found) == 0 {
		return relabel.TrainedOn{}, relabel.Errorf(relabel.CodeNotFound, "there is no such export")
	}
	return slices.MaxFunc(found, func(a, b relabel.TrainedOn) int { return strings.Compare(string(a.EpochsFrom), string(b.EpochsFrom)) }), m.broken
}

func (m *memory) ListTrainingChain(ctx context.Context, id relabel.ID) (chain []relabel.Policy, err error) {
	for next := &id; next != nil; {
		p, err := m.FindPolicy(ctx, *next)
		if err != nil {
			return nil, err
		}
		chain, next = append(chain, p), p.TrainedFrom
	}
	return chain, nil
}

func (m *memory) FindPolicyByName(_ context.Context, name string) (relabel.Policy, error) {
	return find(m, &m.policies, func(p relabel.Policy) bool { return p.Name == name })
}

func (m *memory) ListPolicies(_ context.Context, p relabel.Page) ([]relabel.Policy, string, error) {
	return page(m, m.policies, p, func(p relabel.Policy) relabel.ID { return p.ID }, func(relabel.Policy) bool { return true })
}

func (m *memory) CreateRun(_ context.Context, r relabel.Run) error {
	if _, err := find(m, &m.runs, func(other relabel.Run) bool { return other.Name == r.Name }); err == nil {
		return relabel.Errorf(relabel.CodeConflict, "there is a run named %q already", r.Name).On("name")
	}
	r.CreatedAt = time.Now()
	return add(m, &m.runs, r)
}

func (m *memory) FindRun(_ context.Context, id relabel.ID) (relabel.Run, error) {
	return find(m, &m.runs, func(r relabel.Run) bool { return r.ID == id })
}

func (m *memory) FindRunByName(_ context.Context, name string) (relabel.Run, error) {
	return find(m, &m.runs, func(r relabel.Run) bool { return r.Name == name })
}

func (m *memory) ListRuns(_ context.Context, p relabel.Page) ([]relabel.Run, string, error) {
	return page(m, m.runs, p, func(r relabel.Run) relabel.ID { return r.ID }, func(relabel.Run) bool { return true })
}

func (m *memory) CreateIteration(_ context.Context, p relabel.PlannedIteration) error {
	m.mu.Lock()
	m.trajectories = append(m.trajectories, p.Trajectories...)
	m.mu.Unlock()
	return add(m, &m.iterations, p.Iteration)
}

func (m *memory) ListPassAtK(context.Context, relabel.Iteration) ([]relabel.PassAtK, error) {
	return nil, nil
}

func (m *memory) ListWalked(ctx context.Context, run relabel.ID, kind relabel.IterationKind) ([]relabel.WalkedDraw, error) {
	its, err := m.ListIterations(ctx, run)
	var walked []relabel.WalkedDraw
	for _, it := range its {
		if it.Kind == kind && it.Walk != nil {
			draw, _ := m.FindDraw(ctx, it.ID)
			walked = append(walked, relabel.WalkedDraw{Walk: *it.Walk, Instances: draw.Instances})
		}
	}
	return walked, err
}

func (m *memory) FindDraw(_ context.Context, id relabel.ID) (relabel.Draw, error) {
	it, err := find(m, &m.iterations, func(it relabel.Iteration) bool { return it.ID == id })
	if err != nil {
		return relabel.Draw{}, err
	}
	run, err := find(m, &m.runs, func(r relabel.Run) bool { return r.ID == it.RunID })
	d := relabel.Draw{IterationID: id, TasksetID: run.TasksetID, Generations: it.Generations}
	for _, t := range m.trajectories {
		if t.IterationID == id && t.Generation == 0 {
			d.Instances = append(d.Instances, t.InstanceID)
		}
	}
	return d, err
}

func (m *memory) FindIteration(_ context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error) {
	it, err := find(m, &m.iterations, func(it relabel.Iteration) bool { return it.ID == id })
	p := relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{}}
	for _, t := range m.trajectories {
		if t.IterationID == id {
			p.Trajectories[t.State]++
		}
	}
	return it, p, err
}

func (m *memory) ListIterations(_ context.Context, run relabel.ID) ([]relabel.Iteration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.iterations), func(it relabel.Iteration) bool { return it.RunID != run }), m.broken
}

func (m *memory) CancelIteration(_ context.Context, id relabel.ID) (relabel.Iteration, error) {
	for i := range m.iterations {
		if m.iterations[i].ID == id {
			m.iterations[i].State = relabel.IterationCancelled
		}
	}
	for i := range m.trajectories {
		if t := &m.trajectories[i]; t.IterationID == id && !t.State.Terminal() {
			t.State = relabel.Cancelled
		}
	}
	return find(m, &m.iterations, func(it relabel.Iteration) bool { return it.ID == id })
}

func (m *memory) CancelRun(ctx context.Context, id relabel.ID) (relabel.Run, error) {
	return m.FindRun(ctx, id)
}

func (m *memory) changeRun(id relabel.ID, change func(*relabel.Run)) (relabel.Run, error) {
	for i := range m.runs {
		if m.runs[i].ID == id {
			change(&m.runs[i])
		}
	}
	return find(m, &m.runs, func(r relabel.Run) bool { return r.ID == id })
}

func (m *memory) changeIteration(id relabel.ID, change func(*relabel.Iteration)) (relabel.Iteration, error) {
	for i := range m.iterations {
		if m.iterations[i].ID == id {
			change(&m.iterations[i])
		}
	}
	return find(m, &m.iterations, func(it relabel.Iteration) bool { return it.ID == id })
}

func (m *memory) PauseRun(_ context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Run, error) {
	return m.changeRun(id, func(r *relabel.Run) { r.Paused = &relabel.Pause{Reason: reason, Text: text, Since: time.Now()} })
}

func (m *memory) ResumeRun(_ context.Context, id relabel.ID) (relabel.Run, error) {
	return m.changeRun(id, func(r *relabel.Run) { r.Paused = nil })
}

func (m *memory) PauseIteration(_ context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Iteration, error) {
	return m.changeIteration(id, func(it *relabel.Iteration) {
		it.Paused = &relabel.Pause{Reason: reason, Text: text, Since: time.Now()}
	})
}

func (m *memory) ResumeIteration(_ context.Context, id relabel.ID) (relabel.Iteration, error) {
	return m.changeIteration(id, func(it *relabel.Iteration) { it.Paused = nil })
}

func (m *memory) SetScheduling(_ context.Context, id relabel.ID, to relabel.SchedulingChange) (relabel.Run, error) {
	return m.changeRun(id, func(r *relabel.Run) {
		if to.Priority != nil {
			r.Priority = *to.Priority
		}
		if to.Quota != nil {
			r.Quota = *to.Quota
		}
	})
}

func (m *memory) RetryFailed(_ context.Context, iteration relabel.ID, reasons []relabel.FailureReason) (int, error) {
	n := 0
	for i := range m.trajectories {
		t := &m.trajectories[i]
		if t.IterationID == iteration && t.State == relabel.Failed && (len(reasons) == 0 || slices.Contains(reasons, t.Failure)) {
			t.State, t.Failure = relabel.Queued, ""
			n++
		}
	}
	return n, nil
}

func (m *memory) ListOutages(context.Context, *relabel.ID) ([]relabel.Outage, error) { return nil, nil }

func (m *memory) ListWorkers(context.Context) ([]relabel.Worker, error) {
	return m.workers, m.broken
}

func (m *memory) FindTrajectory(_ context.Context, id relabel.ID) (relabel.Trajectory, error) {
	return find(m, &m.trajectories, func(t relabel.Trajectory) bool { return t.ID == id })
}

func (m *memory) ListTrajectories(_ context.Context, f relabel.TrajectoryFilter, _ relabel.TrajectorySort, p relabel.Page) (relabel.TrajectoryPage, error) {
	items, next, err := page(m, m.trajectories, p, func(t relabel.Trajectory) relabel.ID { return t.ID }, func(t relabel.Trajectory) bool {
		return (f.State == "" || f.State == t.State) && (f.RunID == nil || *f.RunID == t.RunID) && (f.IterationNumber == 0 || f.IterationNumber == t.Iteration) &&
			(f.Verdict == "" || f.Verdict == t.Verdict) && (f.InstanceID == "" || f.InstanceID == t.InstanceID) && (f.MinTurns == nil || t.Turns >= *f.MinTurns)
	})
	return relabel.TrajectoryPage{Items: items, Next: next, Total: len(items), Exact: true, Of: len(m.trajectories)}, err
}

func (m *memory) SearchTexts(context.Context, relabel.TrajectoryFilter, relabel.TrajectorySort, relabel.TextSearch) (relabel.TextPage, error) {
	return relabel.TextPage{Searched: len(m.trajectories), Total: len(m.trajectories), Exact: true, Of: len(m.trajectories)}, m.broken
}

func (m *memory) ListAttempts(_ context.Context, id relabel.ID) ([]relabel.Attempt, error) {
	return m.attempts[id], m.broken
}

func (m *memory) ListTurns(_ context.Context, id relabel.ID, from, limit int) ([]relabel.Turn, error) {
	turns := m.turns[id]
	from = min(from-1, len(turns))
	return turns[from:min(from+limit, len(turns))], m.broken
}

func (m *memory) ImportRun(context.Context, relabel.ImportedRun, iter.Seq2[relabel.ImportedTrajectory, error]) error {
	return errNone // over Postgres alone
}

func (m *memory) ListPromptedTurns(ctx context.Context, id relabel.ID, from, limit int) ([]relabel.Turn, error) {
	return m.ListTurns(ctx, id, from, limit)
}

func (m *memory) FindState(_ context.Context, id relabel.ID, _, t int) ([]relabel.Turn, error) {
	turns := m.turns[id]
	if len(turns) < t {
		return nil, errNone
	}
	return turns[:t], m.broken
}

func (m *memory) FindPatch(_ context.Context, id relabel.ID) ([]byte, error) {
	return m.patches[id], m.broken
}

func (m *memory) FindVerdict(_ context.Context, id relabel.ID) (relabel.Verdict, error) {
	v, ok := m.verdicts[id]
	if !ok {
		return v, errNone
	}
	return v, m.broken
}

func (m *memory) ListCalls(_ context.Context, id relabel.ID) ([]relabel.Call, error) {
	return m.calls[id], m.broken
}

func (m *memory) BeginIdempotent(_ context.Context, i relabel.Idempotent) (*relabel.Idempotent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, ok := m.keys[i.Key]
	switch {
	case !ok:
		m.keys[i.Key] = i
		return nil, nil
	case kept.Route != i.Route || kept.BodyHash != i.BodyHash:
		return nil, relabel.Errorf(relabel.CodeIdempotency, "the key was used with another request")
	case kept.Status == 0:
		return nil, relabel.Errorf(relabel.CodeConflict, "the first request is at work")
	}
	return &kept, nil
}

func (m *memory) EndIdempotent(_ context.Context, i relabel.Idempotent) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.Status == 0 {
		delete(m.keys, i.Key)
		return nil
	}
	m.keys[i.Key] = i
	return nil
}

func (m *memory) CheckToken(_ context.Context, sha256 string) (relabel.Access, error) {
	return m.tokens[sha256], m.broken
}

func (m *memory) CheckSession(_ context.Context, sha256 string) (relabel.Access, error) {
	return m.sessions[sha256], m.broken
}

func (m *memory) Ping(context.Context) error { return m.broken }
