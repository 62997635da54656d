// Package web is the viewer: server-rendered pages, embedded, without a build step.
package web

import (
	"context"

	"relabel"
)

// Store is what the pages read; server.Store says what each method promises.
type Store interface {
	BeginSession(ctx context.Context, tokenSHA256 string) (secret string, err error)
	EndSession(ctx context.Context, sha256 string) error
	ListRuns(ctx context.Context, p relabel.Page) (runs []relabel.Run, next string, err error)
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	FindIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error)
	FindSpent(ctx context.Context, run relabel.ID) (relabel.Spent, error)
	ListTimes(ctx context.Context, run relabel.ID) ([]relabel.IterationTime, error)
	FindTask(ctx context.Context, id relabel.ID) (relabel.Task, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
	FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error)
	ListTrajectories(ctx context.Context, f relabel.TrajectoryFilter, p relabel.Page) (list []relabel.Trajectory, next string, err error)
	ListTurns(ctx context.Context, trajectory relabel.ID, from, limit int) ([]relabel.Turn, error)
	FindPatch(ctx context.Context, trajectory relabel.ID) ([]byte, error)
	FindVerdict(ctx context.Context, trajectory relabel.ID) (relabel.Verdict, error)
}
