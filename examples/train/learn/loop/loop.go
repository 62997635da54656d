package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"relabel"
	"relabel/api"
	"relabel/api/client"
	"relabel/examples/train/learn/repair"
	"relabel/modelfiles"
)

// Names in relabel.
const (
	teacherName   = "repair-teacher"
	tokenizerName = "repair-student"
)

// loop is a run of the command.
type loop struct {
	options
	*record
	relabel *process
	client  *client.Client
	teacher relabel.Policy
	served  served
	stops   []func()
	begun   time.Time
}

// open starts the services.
func open(ctx context.Context, o options) (l *loop, err error) {
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, err
	}
	if o.Out, err = filepath.Abs(o.Out); err != nil {
		return nil, err
	}
	l = &loop{options: o, begun: time.Now()}
	made := o.made()
	if made.Relabel, err = output(ctx, o.Relabel, "--version"); err != nil {
		return nil, err
	}
	if made.Torch, err = output(ctx, o.Python, "-c", "import importlib.metadata as m; print(m.version('torch'))"); err != nil {
		return nil, err
	}
	if l.record, err = openRecord(o.Out, made); err != nil {
		return nil, err
	}
	if l.relabel, l.client, err = startRelabel(ctx, o); err != nil {
		return nil, err
	}
	l.stops = append(l.stops, l.relabel.stop, func() { l.served.stop() })
	if err := l.register(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close stops the services, the last one first.
func (l *loop) close() {
	for i := len(l.stops) - 1; i >= 0; i-- {
		l.stops[i]()
	}
	l.stops = nil
}

// output runs a program and returns what it prints, trimmed.
func output(ctx context.Context, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// say prints a line about progress.
func (l *loop) say(format string, args ...any) {
	fmt.Printf("%7s  %s\n", time.Since(l.begun).Round(time.Second), fmt.Sprintf(format, args...))
}

// register adds the teacher and the student's tokenizer.
func (l *loop) register(ctx context.Context) error {
	stop, address, err := startTeacher()
	if err != nil {
		return err
	}
	l.stops = append(l.stops, stop)
	l.teacher, err = l.client.CreatePolicy(ctx, api.NewPolicy{Name: teacherName, BaseURL: address, Model: repair.TeacherModel,
		Limits: &api.NewLimits{Concurrency: new(128)}})
	if err != nil {
		return err
	}
	files, err := modelfiles.ReadFolder(filepath.Join(l.Programs, "tokenizer"))
	if err != nil {
		return err
	}
	_, err = l.client.AddTokenizer(ctx, tokenizerName, files)
	return err
}

// step names a step of a seed, arm and round.
func step(seed int, a arm, round int) string { return fmt.Sprintf("%d-%s-%d", seed, a.Name, round) }

// seed runs all rounds of all arms with one seed.
func (l *loop) seed(ctx context.Context, seed int) error {
	if err := l.importTasks(ctx, seed); err != nil {
		return err
	}
	if err := l.createBenchmark(ctx, seed); err != nil {
		return err
	}
	first, err := l.round(ctx, seed, base, 1, nil)
	if err != nil {
		return err
	}
	for _, name := range l.Arms {
		past := []student{first}
		for round := 2; round <= l.Rounds; round++ {
			next, err := l.round(ctx, seed, armOf(name), round, past)
			if err != nil {
				return err
			}
			past = append(past, next)
		}
	}
	return nil
}

// round collects, trains and evaluates, unless the record has it.
func (l *loop) round(ctx context.Context, seed int, a arm, round int, past []student) (student, error) {
	key := step(seed, a, round)
	s, done := l.Students[key]
	if !done {
		var err error
		if s, err = l.learn(ctx, seed, a, round, past); err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
		l.Students[key] = s
		if err := l.save(); err != nil {
			return s, err
		}
	}
	if _, done := l.Results[key]; done || l.EvalRounds == "last" && round > 1 && round < l.Rounds {
		return s, nil
	}
	result, err := l.evaluate(ctx, &s)
	if err != nil {
		return s, fmt.Errorf("evaluation of %s: %w", key, err)
	}
	l.Results[key], l.Students[key] = result, s
	l.say("%s: evaluated, %d of %d solved, %d of %d after a failed check", key, result.Solved, result.Tasks, result.Recovered, result.FirstFailed)
	return s, l.save()
}

// taskset is the name of a seed's task set, and names its tasks.
func taskset(seed int) string { return fmt.Sprintf("repair-%d", seed) }

// pool is how many tasks a round may draw from.
func (l *loop) pool(round int) int {
	if round == 1 {
		return l.BaseLabels/4 + 4
	}
	return l.Labels/3 + 4
}

// seedOfTask is the seed of the k-th task of a round.
func seedOfTask(seed, round, k int) string { return fmt.Sprintf("%d-%d-%d", seed, round, k) }

// importTasks makes the image of a seed's tasks and imports them. The held-out tasks are the same for
// all seeds.
func (l *loop) importTasks(ctx context.Context, seed int) error {
	var tasks []repair.Task
	heldOut := url.Values{"name": {taskset(seed)}, "format": {"relabel"}}
	for k := range l.Eval {
		t := repair.Draw(fmt.Sprint(k), true)
		tasks = append(tasks, t)
		heldOut.Add("held_out", t.ID)
	}
	for round := 1; round <= l.Rounds; round++ {
		for k := range l.pool(round) {
			tasks = append(tasks, repair.Draw(seedOfTask(seed, round, k), false))
		}
	}
	image, err := makeImage(ctx, l.Base, tasks)
	if err != nil {
		return err
	}
	l.Images[fmt.Sprint(seed)] = image
	if _, err := l.client.Taskset(ctx, taskset(seed)); relabel.CodeOf(err) != relabel.CodeNotFound {
		return err
	}
	var lines []byte
	for _, t := range tasks {
		line, err := t.Line(image)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	l.say("seed %d: %d tasks in %s", seed, len(tasks), image)
	_, err = l.client.ImportTaskset(ctx, heldOut, bytes.NewReader(lines), int64(len(lines)))
	return err
}
