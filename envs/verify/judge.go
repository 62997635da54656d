package verify

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/envs"
)

// test runs the test command, with canaries where the candidate is to have them, and
// judges its log.
func (s *stage) test(ctx context.Context) trial {
	command, parserName := testCommand(s.task)
	parse, known := parsers[parserName]
	if !known {
		return doubtful("there is no log parser %q", parserName)
	}
	planted, problem := s.plant(ctx, command, parserName)
	if problem != "" {
		return trial{ran: true, doubt: problem}
	}
	if planted != nil {
		command = planted.command
		for _, f := range planted.files {
			if f.below == "" {
				s.guarded = append(s.guarded, f.path)
			}
		}
	}
	before, problem := s.stamps(ctx)
	if problem != "" {
		return trial{ran: true, doubt: problem}
	}
	reportPath := ""
	if witnessed(command, parserName) {
		reportPath = "/tmp/relabel-" + s.nonce + ".xml"
	}
	nodeReportPath, command := s.askNode(ctx, command, parserName)
	script, _ := relabel.SplitEvalScript(s.task.EvalScript) // "" has no parts
	nonce, plain := newNonce(), ""
	if s.loadsNoPlugins(parserName, script) {
		plain = "plain"
	}
	r, err := s.sandbox.Run(ctx, envs.Command{
		Args:  []string{"bash", "-c", testScript, "bash", command, reportPath, plain, script.Before, script.After},
		Stdin: []byte(nonce + "\n"), Dir: s.task.Workdir, Timeout: testTime(s.limits), MaxOutput: maxLog,
	})
	if err != nil {
		return trial{ran: true, doubt: "the container failed while the tests ran: " + err.Error()}
	}
	e := evidence{run: r}
	e.log, e.code, e.ended = between(nonce, r)
	e.outcomes = parse(e.log)
	if problem := s.witness(ctx, reportPath, nodeReportPath, &e); problem != "" {
		return trial{ran: true, doubt: problem}
	}
	t := s.judge(e, planted)
	if t.verdict.Passed {
		if t.changed, problem = s.changedSince(ctx, before); problem != "" {
			t.doubt = problem
		}
	}
	return t
}

// witness reads the report of pytest, which takes back what it does not bear out, or that of
// Jest or Vitest, where their paths are not "". A problem is the container's.
func (s *stage) witness(ctx context.Context, pytest, node string, e *evidence) (problem string) {
	if pytest == "" && node == "" {
		return ""
	}
	if _, problem := s.look(ctx, "ending what the tests left behind", endScript, nil); problem != "" {
		return problem
	}
	if node != "" {
		e.node = s.readNodeReport(ctx, node)
	} else if e.report = s.readReport(ctx, pytest); e.report != nil {
		e.report.confirm(e.outcomes)
	}
	if e.node == nil && e.report == nil {
		return "the container failed while the report of the tests was read"
	}
	return ""
}

// loadsNoPlugins reports whether pytest need not look for plugins among the installed
// distributions: the image has none with plugins, and the script installs nothing.
func (s *stage) loadsNoPlugins(parserName string, script relabel.EvalScript) bool {
	return strings.HasPrefix(strings.TrimPrefix(parserName, "parse_log_"), "pytest") && s.facts.known() && len(s.facts.plugins) == 0 &&
		!strings.Contains(script.Before, "install")
}

// plant writes the canaries of a run into the repository. It returns nil where there are
// none; a problem is the container's.
func (s *stage) plant(ctx context.Context, command, parserName string) (planted *planting, problem string) {
	if s.bare {
		return nil, ""
	}
	patched, problem := s.patchedTests(ctx)
	if problem != "" {
		return nil, problem
	}
	p, ok := canariesFor(parserName, s.garden(ctx, command, patched))
	if !ok {
		return nil, ""
	}
	for _, f := range p.files {
		file := f.path
		if f.below == "" {
			file = path.Join(s.task.Workdir, f.path)
		}
		if err := s.sandbox.WriteFile(ctx, file, []byte(f.content), 0o644); err != nil {
			return nil, "the container failed while canaries were planted: " + err.Error()
		}
	}
	return &p, ""
}

// garden describes the repository to the makers of canaries, with the files that the
// evaluation script will write.
func (s *stage) garden(ctx context.Context, command string, patched map[string][]byte) garden {
	return garden{
		task: s.task, command: command, random: canaryRandom(), base: s.base, left: s.left, late: s.appliesTestPatch(),
		has: func(name string) bool {
			if s.base.has(name) || patched[name] != nil {
				return true
			}
			_, err := s.sandbox.Stat(ctx, path.Join(s.task.Workdir, name))
			return err == nil
		},
		read: func(name string) ([]byte, bool) {
			if content := patched[name]; content != nil {
				return content, true
			}
			data, size, err := s.sandbox.ReadFile(ctx, path.Join(s.task.Workdir, name), maxNeighbour)
			return data, err == nil && size <= maxNeighbour
		},
	}
}

// maxNeighbour is the longest file that a maker of canaries reads, in bytes.
const maxNeighbour = 4 << 20

// evidence is what is known of a run of the tests.
type evidence struct {
	run      envs.Result
	log      []byte
	code     int  // the exit code of the test command
	ended    bool // the shell that ran it came to its end
	outcomes outcomes
	report   *report     // of pytest; nil where there is none
	node     *nodeReport // of Jest or Vitest; nil where it was not asked for
}

// judge decides what a run says.
func (s *stage) judge(e evidence, planted *planting) trial {
	t := trial{ran: true, bare: s.bare, left: s.left, reported: e.node != nil, counts: s.counts(e, planted), verdict: grade(s.task, e.outcomes)}
	t.verdict.Output = kept(e.run)
	if planted != nil {
		t.planted, t.verdict.Canaries = true, true
		t.below = slices.ContainsFunc(planted.files, func(f plantedFile) bool { return f.shared || f.claims })
		t.missed = planted.misses(e.log, e.outcomes, e.report, e.code)
	}
	if t.reported {
		if m, differs := e.node.miss(s.task, e.outcomes, planted); differs {
			t.missed = append(t.missed, m)
		}
	}
	missed := keysOf(t.missed)
	t.leavable = !missed[""] && (planted == nil || planted.remains(missed))
	t.disturbed = len(t.missed) > 0 && planted != nil && (planted.broken(e.outcomes, missed) || planted.cutShort(e.outcomes, t.verdict.Tests))
	switch {
	case e.run.Ended != envs.EndedExit:
		t.verdict.Passed, t.verdict.Reason = false, relabel.VerdictTimedOut
	case !e.ended:
		t.doubt = "the shell that ran the tests was killed"
	case t.verdict.Passed:
	case noSpace(e.log):
		t.doubt = "the disk was full while the tests ran"
	case e.code >= 128:
		t.doubt = "the test command was killed, exit code " + strconv.Itoa(e.code)
	case e.code != 0 && len(e.outcomes) == 0:
		t.doubt = "the test command failed, exit code " + strconv.Itoa(e.code) + ", and its log names no test"
		t.disturbed = planted != nil || t.reported
	}
	return t
}

// between returns the log of the test command, which stands between the two lines with
// the nonce, and its exit code. ended is false where the last line is not there, or the
// shell that wrote it ended in another way.
func between(nonce string, r envs.Result) (log []byte, code int, ended bool) {
	log = r.Output
	if r.Tail != nil {
		log = append(append(append([]byte(nil), r.Output...), '\n'), r.Tail...)
	}
	if _, after, ok := bytes.Cut(log, []byte("\n"+nonce+" begin\n")); ok {
		log = after
	}
	at := bytes.LastIndex(log, []byte("\n"+nonce+" end "))
	if at < 0 {
		return log, r.Exit, false
	}
	line, _, _ := bytes.Cut(log[at+len(nonce)+len("\n end "):], []byte("\n"))
	code, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	return log[:at], r.Exit, err == nil && code == r.Exit
}

// grade compares what the tests gave with what the task asks: passed means that every
// test of FAIL_TO_PASS passed, as PASSED or XFAIL, and every test of PASS_TO_PASS passed or
// was skipped: a skipped test is no regression, as in swebench 5.0.2
// (grading.test_maintained). A test that is absent has not passed.
func grade(task relabel.Task, outcomes outcomes) relabel.Verdict {
	v := relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}}
	for i, list := range [][]string{task.FailToPass, task.PassToPass} {
		toPass := i == 0
		for _, id := range list {
			status := outcomes.of(id)
			v.Tests[id] = status
			maintained := !toPass && status == relabel.TestSkipped
			if !status.Passed() && !maintained {
				v.Passed, v.Reason = false, relabel.VerdictTests
			}
		}
	}
	return v
}
