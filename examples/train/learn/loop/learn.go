package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relabel"
	"relabel/api"
	"relabel/examples/train/learn/repair"
)

// limits are those of every trajectory.
var limits = api.NewRunLimits{MaxTurns: new(20), MaxContextTokens: new(4096), WallClockSeconds: new(600),
	CommandSeconds: new(10), VerifySeconds: new(120)}

// learn collects a round's labels and trains the next student on them and those of the rounds before.
func (l *loop) learn(ctx context.Context, seed int, a arm, round int, past []student) (s student, err error) {
	begun := time.Now()
	acting := l.teacher // nobody else acts
	if recipe, _, _ := a.schedule(round); recipe != relabel.SFT {
		if acting, err = l.serve(ctx, past[len(past)-1]); err != nil {
			return s, err
		}
	}
	run, err := l.createRun(ctx, seed, a, round)
	if err != nil {
		return s, err
	}
	s.Run = run.ID
	export, err := l.collect(ctx, &s, acting, seed, a, round)
	if err != nil {
		return s, err
	}
	s.Export, s.ExportID, s.Labels, s.Excluded = export.Directory, export.ID, export.Rows, export.Excluded
	if s.Manifest, err = hashFile(filepath.Join(s.Export, "manifest.json")); err != nil {
		return s, err
	}
	s.CollectSeconds = time.Since(begun).Seconds()
	l.say("%s: %d labels of %d turns in %d trajectories, %.1f turns a second", step(seed, a, round), s.Labels, s.Turns, s.Trajectories, float64(s.Turns)/s.CollectSeconds)
	if err := l.train(ctx, &s, seed, a, round, past); err != nil {
		return s, err
	}
	policy, err := l.serve(ctx, s)
	s.Policy = policy.ID
	return s, err
}

// served is the student that is served now, with its policy.
type served struct {
	name   string
	server *process
	policy relabel.Policy
}

func (s served) stop() { s.server.stop() }

// serve serves a student, in place of the one before, and adds its policy.
func (l *loop) serve(ctx context.Context, s student) (relabel.Policy, error) {
	if l.served.name == s.name() {
		return l.served.policy, nil
	}
	l.served.stop()
	l.served = served{}
	p, address, err := startStudent(l.options, s.model(), filepath.Join(l.Out, s.Checkpoint))
	if err != nil {
		return relabel.Policy{}, err
	}
	policy, err := l.client.CreatePolicy(ctx, s.policyAt(address))
	if err != nil {
		p.stop()
		return policy, err
	}
	l.served = served{s.name(), p, policy}
	return policy, nil
}

// model is the student's name at its server.
func (s student) model() string { return s.SHA256[:16] }

// policyAt is the policy of the student at an address, with what trained it.
func (s student) policyAt(address string) api.NewPolicy {
	const tokens = 1024 // of the context, as serve.py has by default
	var trained []api.NewTrainedOn
	for _, id := range slices.SortedFunc(maps.Keys(s.Epochs), func(a, b relabel.ID) int { return cmp.Compare(a.String(), b.String()) }) {
		trained = append(trained, api.NewTrainedOn{Export: id, Epochs: new(s.Epochs[id])})
	}
	return api.NewPolicy{Name: "student-" + s.name(), BaseURL: address, Model: s.model(),
		Server: relabel.ServerVLLM, ToolFormat: relabel.ToolsText, Tokenizer: tokenizerName, TrainedOn: trained, TrainedFrom: s.From,
		Sampling: &api.NewSampling{MaxTokens: 64}, Limits: &api.NewLimits{Concurrency: new(64), ContextTokens: new(tokens)}}
}

// createRun creates a round's run. A run of an earlier try, which was stopped, keeps its name with the
// suffix of its id and is not used.
func (l *loop) createRun(ctx context.Context, seed int, a arm, round int) (relabel.Run, error) {
	name := step(seed, a, round)
	if _, err := l.client.Run(ctx, name); err == nil {
		name += "-" + relabel.NewID().String()
	}
	run := api.NewRun{Name: name, Scaffold: "bare", Taskset: taskset(seed), Teacher: l.teacher.ID.String(),
		Limits: &limits, Verify: relabel.VerifyNone, Seed: int64(seed)} // evaluations are always verified
	run.Recipe, run.Beta, run.Rho = a.schedule(round)
	return l.client.CreateRun(ctx, run)
}

// collect rolls out tasks until the export has its labels.
func (l *loop) collect(ctx context.Context, s *student, acting relabel.Policy, seed int, a arm, round int) (export relabel.Export, err error) {
	want := l.Labels
	if round == 1 {
		want = l.BaseLabels
	}
	labels, next := 0, 0
	for count := a.expected(round, want); ; count = a.expected(round, max(want-labels, 0)) {
		if next+count > l.pool(round) {
			return export, fmt.Errorf("all %d tasks of the round gave only %d labels", next, labels)
		}
		var instances []string
		for k := next; k < next+count; k++ {
			instances = append(instances, repair.Draw(seedOfTask(seed, round, k), false).ID)
		}
		it, err := l.iterate(ctx, s.Run, api.NewIteration{Student: acting.ID.String(), Instances: instances})
		if err != nil {
			return export, err
		}
		next += count
		labels += it.Progress.LabelsReceived
		s.Turns += it.Progress.Turns
		s.Trajectories += count
		if labels < want {
			continue
		}
		export, err = l.export(ctx, s.Run, want)
		if err != nil || export.State == relabel.ExportDone {
			return export, err
		}
		if !strings.Contains(export.Failure, "max_labels") {
			return export, fmt.Errorf("the export %s is %s: %s", export.ID, export.State, export.Failure)
		}
	}
}

// mostRetries is how often failed trajectories of an iteration are retried. The environment failed then,
// not the agent.
const mostRetries = 2

// iterate runs an iteration to its end.
func (l *loop) iterate(ctx context.Context, run relabel.ID, ask api.NewIteration) (api.IterationView, error) {
	it, err := l.client.StartIteration(ctx, run, ask)
	if err != nil {
		return it, err
	}
	for retries := 0; ; retries++ {
		if it, err = l.client.FollowIteration(ctx, it.ID, func(api.IterationView) {}); err != nil {
			return it, err
		}
		n := it.Progress.Trajectories[relabel.Failed]
		switch {
		case n == 0:
			return it, nil
		case retries == mostRetries:
			return it, fmt.Errorf("%d trajectories of iteration %s failed, also after %d retries: see %s", n, it.ID, retries, filepath.Join(l.Out, "relabel.log"))
		}
		l.say("%d trajectories of iteration %s failed: they are retried", n, it.ID)
		if _, err := l.client.RetryIteration(ctx, it.ID, api.Retry{}); err != nil {
			return it, err
		}
	}
}

// export exports exactly want labels of a round, of trajectories of any end, and waits for it.
func (l *loop) export(ctx context.Context, run relabel.ID, want int) (relabel.Export, error) {
	form := relabel.ExportForm{Views: []relabel.View{relabel.ViewTree}, Tokenizer: tokenizerName, Capacity: 4096, MaxLabels: want}
	e, err := l.client.StartExport(ctx, api.NewExport{Run: run.String(), LabelSelection: api.LabelSelection{Aggregated: true, Submitted: new(false), Resolved: new(false)}, ExportForm: form})
	for err == nil && (e.State == relabel.ExportQueued || e.State == relabel.ExportRunning) {
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		e, err = l.client.Export(ctx, e.ID)
	}
	return e, err
}

// train trains the round's student from the one before, on all exports so far.
func (l *loop) train(ctx context.Context, s *student, seed int, a arm, round int, past []student) error {
	begun := time.Now()
	s.Checkpoint = filepath.Join("checkpoints", step(seed, a, round))
	args := []string{filepath.Join(l.Programs, "train.py"), "--out", filepath.Join(l.Out, s.Checkpoint), "--seed", fmt.Sprint(seed)}
	for _, p := range past {
		s.Exports = append(s.Exports, p.Export)
	}
	s.Exports = append(s.Exports, s.Export)
	if len(past) == 0 {
		args = append(args, "--updates", fmt.Sprint(l.BaseUpdates), "--peak", "4e-3")
	} else {
		before := past[len(past)-1]
		s.From = before.Policy.String()
		args = append(args, "--updates", fmt.Sprint(l.Updates), "--peak", "2e-3", "--init", filepath.Join(l.Out, before.Checkpoint))
	}
	c := exec.CommandContext(ctx, l.Python, append(args, s.Exports...)...)
	log, err := os.OpenFile(filepath.Join(l.Out, "train.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	c.Stderr = log
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("train.py failed, see %s: %w", log.Name(), err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	s.Training = json.RawMessage(lines[len(lines)-1])
	var made struct {
		SHA256  string
		Loss    float64
		Exports []drawn
	}
	if err := json.Unmarshal(s.Training, &made); err != nil || len(made.SHA256) < 16 || len(made.Exports) != len(s.Exports) {
		return fmt.Errorf("train.py printed no metadata: %.200q", s.Training)
	}
	s.SHA256, s.TrainSeconds = made.SHA256, time.Since(begun).Seconds()
	s.Epochs = epochs(made.Exports, append(slices.Clone(past), *s))
	l.say("%s: trained to a loss of %.4f in %.0f s", step(seed, a, round), made.Loss, s.TrainSeconds)
	return nil
}

// drawn is what a training took of an export, as train.py prints it.
type drawn struct {
	Drawn int // labelled states of all its batches
}

// epochs are the passes of a training over the exports of students, without those that it took nothing of.
func epochs(of []drawn, students []student) map[relabel.ID]float64 {
	passes := map[relabel.ID]float64{}
	for i, s := range students {
		if of[i].Drawn > 0 {
			passes[s.ExportID] = float64(of[i].Drawn) / float64(s.Labels)
		}
	}
	return passes
}

// hashFile is the hex SHA-256 of a file.
func hashFile(name string) (string, error) {
	text, err := os.ReadFile(name)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
