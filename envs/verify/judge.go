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
	"relabel/envs/verify/canary"
	"relabel/envs/verify/canary/golang"
	"relabel/envs/verify/canary/node"
	"relabel/envs/verify/canary/python"
	"relabel/envs/verify/results"
	"relabel/envs/verify/testcmd"
	"relabel/tasks"
	"relabel/testlog"
)

// test runs the test command, with canaries unless the candidate excludes them, and judges the run.
func (s *stage) test(ctx context.Context) trial {
	command, parserName := testcmd.Of(s.task)
	parse, known := testlog.Find(parserName)
	if !known {
		return doubtful("unknown log parser %q", parserName)
	}
	planted, problem := s.plant(ctx, command, parserName)
	if problem != "" {
		return trial{ran: true, doubt: problem}
	}
	if planted != nil {
		command = planted.Command
		for _, f := range planted.Files {
			if f.Below == "" {
				s.guarded = append(s.guarded, f.Path)
			}
		}
	}
	before, problem := s.stamps(ctx)
	if problem != "" {
		return trial{ran: true, doubt: problem}
	}
	reportPath := ""
	if testcmd.Witnessed(command, parserName) {
		reportPath = "/tmp/relabel-" + s.nonce + ".xml"
	}
	runnerReportPath, command := s.askReport(ctx, command, parserName)
	script, _ := tasks.SplitEvalScript(s.task.EvalScript)
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
	e.outcomes = parse.Parse(e.log)
	if problem := s.witness(ctx, reportPath, runnerReportPath, &e); problem != "" {
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

// witness reads the report of pytest, and removes outcomes that it does not confirm, or the report of
// another runner. Their paths may be "". problem tells how the container failed.
func (s *stage) witness(ctx context.Context, pytest, other string, e *evidence) (problem string) {
	if pytest == "" && other == "" {
		return ""
	}
	if _, problem := s.look(ctx, "ending the processes of the tests", endScript, nil); problem != "" {
		return problem
	}
	data, ok := s.readReport(ctx, pytest+other)
	switch {
	case !ok:
		return "the container failed while the report of the tests was read"
	case other != "":
		_, parserName := testcmd.Of(s.task)
		e.named = s.parseReport(data, parserName)
	default:
		e.report = results.ParseReport(data)
		e.report.Confirm(e.outcomes)
	}
	return ""
}

// loadsNoPlugins reports whether pytest may ignore plugins of installed distributions: the image has
// none, and the script installs nothing.
func (s *stage) loadsNoPlugins(parserName string, script tasks.EvalScript) bool {
	return testcmd.RunnerOf(parserName) == testlog.Pytest && s.Facts.Known() && len(s.Facts.Plugins) == 0 &&
		!strings.Contains(script.Before, "install")
}

// canaryMakers are the makers by the runner of the tests.
var canaryMakers = map[testlog.Runner]canary.Maker{
	testlog.Go:       golang.Canaries{},
	testlog.Jest:     node.Canaries{},
	testlog.Vitest:   node.Canaries{},
	testlog.Pytest:   python.Pytest{},
	testlog.Unittest: python.Unittest{},
	testlog.SymPy:    python.Sympy{},
}

// plant writes the canaries of a run into the repository. planted is nil if there are none. problem
// tells how the container failed.
func (s *stage) plant(ctx context.Context, command, parserName string) (planted *canary.Planting, problem string) {
	if s.bare {
		return nil, ""
	}
	patched, problem := s.patchedTests(ctx)
	if problem != "" {
		return nil, problem
	}
	maker, ok := canaryMakers[testcmd.RunnerOf(parserName)]
	if !ok {
		return nil, ""
	}
	p, ok := canary.Plant(maker, s.garden(ctx, command, patched))
	if !ok {
		return nil, ""
	}
	for _, f := range p.Files {
		file := f.Path
		if f.Below == "" {
			file = path.Join(s.task.Workdir, f.Path)
		}
		if err := s.sandbox.WriteFile(ctx, file, []byte(f.Content), 0o644); err != nil {
			return nil, "the container failed while canaries were planted: " + err.Error()
		}
	}
	return &p, ""
}

// garden describes the repository to the makers of canaries. patched are the files that the
// evaluation script writes later.
func (s *stage) garden(ctx context.Context, command string, patched map[string][]byte) canary.Garden {
	return canary.Garden{
		Task: s.task, Command: command, Random: canary.Random(), Base: s.Base, Left: s.left, Late: s.appliesTestPatch(),
		Has: func(name string) bool {
			if s.Base.Has(name) || patched[name] != nil {
				return true
			}
			_, err := s.sandbox.Stat(ctx, path.Join(s.task.Workdir, name))
			return err == nil
		},
		Read: func(name string) ([]byte, bool) {
			if content := patched[name]; content != nil {
				return content, true
			}
			data, size, err := s.sandbox.ReadFile(ctx, path.Join(s.task.Workdir, name), canary.MaxNeighbour)
			return data, err == nil && size <= canary.MaxNeighbour
		},
	}
}

// evidence is the result of a run of the tests.
type evidence struct {
	run      envs.Result
	log      []byte
	code     int  // the exit code of the test command
	ended    bool // the shell that ran it ended normally
	outcomes testlog.Outcomes
	report   *results.Report      // of pytest; nil if not requested
	named    *results.NamedReport // of another runner; nil if not requested
}

// judge grades a run and compares it with its canaries.
func (s *stage) judge(e evidence, planted *canary.Planting) trial {
	t := trial{
		ran: true, bare: s.bare, left: s.left, reported: e.named != nil,
		counts: s.counts(e, planted), outcomes: e.outcomes, verdict: results.Grade(s.task, e.outcomes),
	}
	t.verdict.Output = kept(e.run)
	if planted != nil {
		t.planted, t.verdict.Canaries = true, true
		t.below = slices.ContainsFunc(planted.Files, func(f canary.File) bool { return f.Shared || f.Claims })
		t.missed = planted.Misses(e.log, e.outcomes, e.report, e.code)
	}
	if t.reported {
		if m, differs := reportMiss(e.named, s.task, e.outcomes, planted); differs {
			t.missed = append(t.missed, m)
		}
	}
	missed := keysOf(t.missed)
	t.leavable = !missed[""] && (planted == nil || planted.Remains(missed))
	t.disturbed = len(t.missed) > 0 && planted != nil && (planted.Broken(e.outcomes, missed) || planted.CutShort(e.outcomes, t.verdict.Tests))
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
		t.unnamed = true
	}
	return t
}

// between returns the log of the test command, between the two lines with the nonce, and its exit
// code. ended is false if the last line is missing or has another exit code than the shell.
func between(nonce string, r envs.Result) (log []byte, code int, ended bool) {
	log = r.Output
	if r.Tail != nil {
		log = slices.Concat(r.Output, []byte("\n"), r.Tail)
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
