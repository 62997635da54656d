package verify

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/results"
	"relabel/envs/verify/testcmd"
	"relabel/testlog"
)

// readReport reads a report. It is nil if it does not exist or is longer than MaxReport. ok is false
// if the container failed.
func (s *stage) readReport(ctx context.Context, path string) (data []byte, ok bool) {
	data, size, err := s.sandbox.ReadFile(ctx, path, results.MaxReport)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, envs.ErrNotRegular), err == nil && size > results.MaxReport:
		return nil, true
	}
	return data, err == nil
}

// askReport returns the command with which a runner other than pytest also writes a report, and the
// report's path. If it cannot, it returns the command unchanged and "".
func (s *stage) askReport(ctx context.Context, command, parserName string) (file, asking string) {
	if s.bare || s.left[canary.ReportKey] {
		return "", command
	}
	runner := testcmd.RunnerOf(parserName)
	file = "/tmp/relabel-" + s.nonce + ".report"
	ok := false
	if testcmd.ReportsInJSON(parserName) {
		asking, ok = testcmd.NodeReportCommand(command, file, s.garden(ctx, command, nil).Read)
	} else {
		asking, ok = testcmd.ReportCommand(runner, command, file)
	}
	if ok {
		return file, asking
	}
	return "", command
}

// parseReport reads the report of a runner other than pytest.
func (s *stage) parseReport(data []byte, parserName string) *results.NamedReport {
	if testcmd.ReportsInJSON(parserName) {
		return results.ParseNodeReport(data, s.task.Workdir)
	}
	return results.ParseRunnerReport(data, testcmd.RunnerOf(parserName))
}

// reportMiss tells how the report differs from the log, in a test of the task that passed or in a
// canary. ok is false if it does not.
func reportMiss(r *results.NamedReport, task relabel.Task, o testlog.Outcomes, planted *canary.Planting) (m canary.Miss, ok bool) {
	miss := func(test string, status relabel.TestStatus) (canary.Miss, bool) {
		return canary.Miss{Key: canary.ReportKey, Why: test + " is " + string(status) + " in the log, but not in the report of the tests"}, true
	}
	for _, id := range slices.Concat(task.FailToPass, task.PassToPass) {
		if status := o.Of(id); status.Passed() && !r.Passed(id) {
			return miss(id, status)
		}
	}
	if planted == nil {
		return canary.Miss{}, false
	}
	for _, c := range planted.Canaries {
		where := r.Failed
		if c.Status.Passed() {
			where = r.Passed
		}
		if o.Ending(c.Name) == c.Status && !where(c.Name) {
			return miss("the canary "+c.Name, c.Status)
		}
	}
	return canary.Miss{}, false
}

// stampScript reads paths from standard input, which end with NUL. For each existing path, it prints
// the inode, the change time, which no program can set, and the size.
const stampScript = `xargs -0 -r -n 500 stat --printf '%n\t%i %.9Z %s\0' -- 2>/dev/null
exit 0
`

// stamps returns the output of stampScript for the guarded files. problem tells how the container
// failed.
func (s *stage) stamps(ctx context.Context) (stamps map[string]string, problem string) {
	if len(s.guarded) == 0 {
		return nil, ""
	}
	r, problem := s.look(ctx, "checking the files of the tests", stampScript, []byte(strings.Join(s.guarded, "\x00")+"\x00"))
	if problem != "" {
		return nil, problem
	}
	stamps = map[string]string{}
	for _, field := range strings.Split(string(r.Output), "\x00") {
		if name, stamp, ok := strings.Cut(field, "\t"); ok {
			stamps[name] = stamp
		}
	}
	return stamps, ""
}

// changedSince returns the guarded files whose stamps changed.
func (s *stage) changedSince(ctx context.Context, before map[string]string) (changed []string, problem string) {
	after, problem := s.stamps(ctx)
	for _, file := range s.guarded {
		if problem == "" && before[file] != after[file] {
			changed = append(changed, file)
		}
	}
	return changed, problem
}
