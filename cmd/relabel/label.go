package main

import (
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs/scaffold/openhands"
	"relabel/labeller"
	"relabel/mixer/schedule"
	"relabel/policy"
)

// labelsAtOnce is how many relabelings and batches a process works at. How many calls that
// makes is their policies' to bound.
const labelsAtOnce = 4

// newLabeller joins policies and scaffold into what asks for labels apart from rollouts.
func newLabeller(db *database, lease time.Duration, policies *policies, owner string, log zerolog.Logger) *labeller.Labeller {
	return labeller.New(labeller.Config{Store: db.Store, Owner: owner, Lease: lease, Log: log, World: labeller.World{
		Policy: func(p relabel.Policy) (labeller.Policy, error) { return policies.Open(p) },
		Down:   policies.Down,
		Count:  policies.count,
		Batches: func(p relabel.Policy) (labeller.Batches, error) {
			return policy.OpenBatches(p, policies.options)
		},
		Parse: func(run relabel.Run, action relabel.Message) relabel.ParseOutcome {
			return openhands.Parse(run.Prompts.Tools, action)
		},
		Seed: func(run relabel.Run, tr relabel.Trajectory, t int, role relabel.Role) int64 {
			place := schedule.Place{Seed: run.Seed, Iteration: tr.Iteration, Instance: tr.InstanceID, Generation: tr.Generation}
			return schedule.CallSeed(place, t, role)
		},
		Record: db.RecordCall,
	}})
}
