package bench

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/envs/scaffold/openhands"
	"relabel/policy"
)

// The comparison with algorithm 1 in sequence: some trajectories at once, long enough
// that the one label which is waited for at the end counts for little.
const (
	sequenceTrajectories = 16
	sequenceTurns        = 60
)

// BenchmarkSequence compares the wall clock with that of algorithm 1 as the paper writes
// it, each call after the other, over the same models: a teacher that takes twice as long
// as the student, commands that take no time. The ideal is 1.5 times faster at β = 0.6
// and 3 times at β = 0; of-ideal is what is reached of it.
func BenchmarkSequence(b *testing.B) {
	for _, c := range []struct {
		name  string
		beta  float64
		ideal float64
	}{{"beta=0.6", 0.6, 1.5}, {"beta=0", 0, 3}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				url := databaseURL(b)
				s := openStore(b, url)
				t := times{Tree: treeTime}
				p := start(b, orders{Database: url, Name: "worker", Rollouts: sequenceTrajectories, Hosts: hosts(1), Times: t})
				var ready string
				p.hear(b, &ready)
				began := time.Now()
				r := begin(b, s, roundOf{trajectories: sequenceTrajectories, turns: sequenceTurns, beta: c.beta,
					student: *student / 2, teacher: *student, times: t})
				r.wait(b)
				took := time.Since(began)
				began = time.Now()
				r.inSequence(b)
				sequence := time.Since(began)
				faster := sequence.Seconds() / took.Seconds()
				b.ReportMetric(took.Seconds(), "s")
				b.ReportMetric(sequence.Seconds(), "s-in-sequence")
				b.ReportMetric(faster, "x-faster")
				b.ReportMetric(faster/c.ideal, "of-ideal")
				b.ReportMetric(r.claimed(b), "s-until-claimed")
				r.reportTime(b)
				must(b, p.stop())
			}
		})
	}
}

// inSequence plays the round's trajectories as algorithm 1 says, one call after the
// other: the executor's action, the label if that was the student's, the command. It
// stores nothing.
func (r round) inSequence(b *testing.B) {
	b.Helper()
	models := map[relabel.Role]*policy.Client{}
	for role, p := range map[relabel.Role]relabel.Policy{relabel.Teacher: r.teacherPolicy, relabel.Student: r.studentPolicy} {
		c, err := policy.Open(p, policy.Options{})
		must(b, err)
		models[role] = c
	}
	var all sync.WaitGroup
	for i, tr := range r.trajectories {
		all.Go(func() {
			box := &sandbox{host: &host{times: r.times}, rand: rand.New(rand.NewPCG(uint64(i), 2))}
			if err := r.playInSequence(models, tr, box); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}

func (r round) playInSequence(models map[relabel.Role]*policy.Client, tr relabel.Trajectory, box *sandbox) error {
	ctx, prompts := context.Background(), openhands.DefaultPrompts()
	state := prompts.Opening(relabel.Task{Workdir: "/testbed", ProblemStatement: piece(box.rand, 2000)})
	for t := 1; t <= len(tr.Executors); t++ {
		req := relabel.ChatRequest{Messages: state, Tools: prompts.Tools, Sampling: relabel.PaperSampling, T: t}
		executor := tr.Executors.At(t)
		answer, err := models[executor].Complete(ctx, req)
		if err == nil && executor == relabel.Student {
			_, err = models[relabel.Teacher].Complete(ctx, req)
		}
		if err != nil {
			return err
		}
		if err := spend(ctx, r.times.Command); err != nil {
			return err
		}
		state = relabel.AppendTurn(state, relabel.Turn{T: t, Executor: executor, Action: relabel.Action{Message: answer.Message},
			Observations: []relabel.Observation{{CallID: relabel.CallID(t, 0), Tool: "execute_bash", Content: piece(box.rand, observationLength)}}})
	}
	return nil
}
