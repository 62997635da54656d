package main

import (
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs/scaffold/openhands"
	"relabel/labeller"
	"relabel/mixer/schedule"
	"relabel/policy"
	"relabel/webhook"
)

// labelsAtOnce is the number of relabelings and batches that a process works on at once. Their
// policies limit the calls.
const labelsAtOnce = 4

// newLabeller returns what requests labels outside of rollouts.
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

// webhooksAtOnce is the number of webhook deliveries that a process sends at once.
const webhooksAtOnce = 4

// newWebhookSender returns what sends webhooks.
func newWebhookSender(db *database, secrets string, res resources, log zerolog.Logger) *webhook.Worker {
	return webhook.NewWorker(webhook.Config{Store: db.Store, Now: db.Clock().Now, Secret: policy.Secrets{Dir: secrets}.Find, Transport: res.rule.Transport(), Log: log, Version: version})
}
