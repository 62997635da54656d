package verify

import (
	"context"
	"errors"
	"io/fs"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/results"
	"relabel/envs/verify/testcmd"
)

// askNode returns the command with which Jest or Vitest writes a report beside its log, and the
// report's path; without one, the command as it is and "".
func (s *stage) askNode(ctx context.Context, command, parserName string) (file, asking string) {
	if !testcmd.NodeParsers[testcmd.ShortParser(parserName)] || s.bare || s.left[canary.ReportKey] {
		return "", command
	}
	file = "/tmp/relabel-" + s.nonce + ".json"
	if asking, ok := testcmd.NodeReportCommand(command, file, s.garden(ctx, command, nil).Read); ok {
		return file, asking
	}
	return "", command
}

// readNodeReport reads the report at file. It is nil where the container's failure is why it
// cannot be read. One that is absent, broken or beyond the bounds confirms nothing.
func (s *stage) readNodeReport(ctx context.Context, file string) *results.NodeReport {
	data, size, err := s.sandbox.ReadFile(ctx, file, results.MaxReport)
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, envs.ErrNotRegular)
	switch {
	case absent || (err == nil && size > results.MaxReport):
		return &results.NodeReport{}
	case err != nil:
		return nil
	}
	return results.ParseNodeReport(data, s.task.Workdir)
}

// nodeMiss says where the report differs from the log, in a test of the task that passed or in a
// canary; ok is false where it does not.
func nodeMiss(r *results.NodeReport, task relabel.Task, o results.Outcomes, planted *canary.Planting) (m canary.Miss, ok bool) {
	for _, list := range [][]string{task.FailToPass, task.PassToPass} {
		for _, id := range list {
			if o.Of(id).Passed() && !r.Clean[results.NodeName(id)] {
				return canary.Miss{Key: canary.ReportKey, Why: "the log has " + id + " as passed, and the report of the tests does not"}, true
			}
		}
	}
	if planted == nil {
		return canary.Miss{}, false
	}
	for _, c := range planted.Canaries {
		where := r.Stained
		if c.Status.Passed() {
			where = r.Clean
		}
		if o.Ending(c.Name) == c.Status && !where[results.NodeName(c.Name)] {
			return canary.Miss{Key: canary.ReportKey, Why: "the log has the canary " + c.Name + " as " + string(c.Status) + ", and the report of the tests does not"}, true
		}
	}
	return canary.Miss{}, false
}
