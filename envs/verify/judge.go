package verify

import (
	"bytes"
	"context"
	"strconv"

	"relabel"
	"relabel/envs"
)

// test runs the test command and judges its log.
func (s *stage) test(ctx context.Context) trial {
	command, parserName := testCommand(s.task)
	parse, known := parsers[parserName]
	if !known {
		return doubtful("there is no log parser %q", parserName)
	}
	report := ""
	if witnessed(command, parserName) {
		report = "/tmp/relabel-" + s.nonce + ".xml"
	}
	r, err := s.sandbox.Run(ctx, envs.Command{
		Args: []string{"bash", "-c", testScript, "bash", s.nonce, command, report},
		Dir:  s.task.Workdir, Timeout: testTime(s.limits), MaxOutput: maxLog,
	})
	if err != nil {
		return trial{ran: true, doubt: "the container failed while the tests ran: " + err.Error()}
	}
	log, code, ended := between(s.nonce, r)
	outcomes := parse(log)
	if report != "" && !s.confirm(ctx, report, outcomes) {
		return trial{ran: true, doubt: "the container failed while the report of the tests was read"}
	}
	t := trial{ran: true, verdict: grade(s.task, outcomes)}
	t.verdict.Output = kept(r)
	switch {
	case t.verdict.Passed:
	case r.Ended != envs.EndedExit:
		t.verdict.Reason = relabel.VerdictTimedOut
	case noSpace(log):
		t.doubt = "the disk was full while the tests ran"
	case !ended:
		t.doubt = "the shell that ran the tests was killed"
	case code >= 128:
		t.doubt = "the test command was killed, exit code " + strconv.Itoa(code)
	case code != 0 && len(outcomes) == 0:
		t.doubt = "the test command failed, exit code " + strconv.Itoa(code) + ", and its log names no test"
	}
	return t
}

// between returns the log of the test command, which stands between the two lines with
// the nonce, and its exit code. ended is false where the last line is not there.
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
	code, err := strconv.Atoi(string(bytes.TrimSpace(log[at+len(nonce)+len("\n end "):])))
	return log[:at], code, err == nil
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
