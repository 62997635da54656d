// Package bench measures relabel as a whole: rollouts of many trajectories at once over
// real HTTP and a real Postgres that syncs to disk, with models and sandboxes that take
// a stated time and no machine. Each benchmark runs its baseline beside itself; what
// they found stands in docs/benchmarks.md and docs/scaling.md.
package bench
