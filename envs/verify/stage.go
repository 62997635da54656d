package verify

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"relabel"
	"relabel/envs"
)

// stage is a trial under way in its container.
type stage struct {
	sandbox envs.Sandbox
	candidate
	nonce string
	tree  string // the repository before the patch, as a git tree
}

// play goes through the steps of a trial: prepare, apply, put the tests back, run them,
// judge.
func (s *stage) play(ctx context.Context, files []patchFile) trial {
	names, problem := s.prepare(ctx)
	if problem != "" {
		return doubtful("%s", problem)
	}
	if len(s.patch) > 0 {
		if t := s.apply(ctx); t != nil {
			return *t
		}
	}
	if problem := s.restore(ctx, protectionOf(s.task, names).among(files)); problem != "" {
		return doubtful("%s", problem)
	}
	return s.test(ctx)
}

// prepare brings the repository to the base commit, remembers its tree and returns the
// names that stand at the places where modules are imported from.
func (s *stage) prepare(ctx context.Context) (names []string, problem string) {
	r, problem := s.run(ctx, "preparing the repository", prepareScript, nil, s.index(), s.task.BaseCommit)
	if problem == "" && r.Exit != 0 {
		problem = failed("preparing the repository in "+s.task.Workdir+" at "+cmp.Or(s.task.BaseCommit, "HEAD"), r)
	}
	if problem != "" {
		return nil, problem
	}
	first, rest, _ := strings.Cut(string(r.Output), "\n")
	s.tree = first
	return strings.FieldsFunc(rest, func(c rune) bool { return c == 0 }), ""
}

// apply applies the submission. A trial is returned where it is decided by that.
func (s *stage) apply(ctx context.Context) *trial {
	r, problem := s.run(ctx, "applying the submission", applyScript, s.patch, s.index(), s.tree)
	switch {
	case problem != "":
	case r.Exit == 0:
		return nil
	case r.Exit == notApplied && !noSpace(r.Output):
		return &trial{verdict: relabel.Verdict{Reason: relabel.VerdictDoesNotApply, Output: kept(r)}}
	default:
		problem = failed("applying the submission", r)
	}
	t := doubtful("%s", problem)
	return &t
}

// restore puts protected files back as they were before the submission, and applies
// the task's test patch.
func (s *stage) restore(ctx context.Context, protected []string) string {
	if len(protected) > 0 {
		list := []byte(strings.Join(protected, "\x00") + "\x00")
		r, problem := s.run(ctx, "putting the tests back", restoreScript, list, s.index(), s.tree)
		if problem == "" && r.Exit != 0 {
			problem = failed("putting the tests back", r)
		}
		if problem != "" {
			return problem
		}
	}
	script, _ := relabel.SplitEvalScript(s.task.EvalScript) // "" has no parts
	if strings.TrimSpace(s.task.TestPatch) == "" || script.AppliesTestPatch() {
		return ""
	}
	r, problem := s.run(ctx, "applying the task's test patch", "git apply --whitespace=nowarn -", []byte(s.task.TestPatch))
	if problem == "" && r.Exit != 0 {
		problem = failed("applying the task's test patch", r)
	}
	return problem
}

// run runs a script of ours at the repository. The problem is the container's.
func (s *stage) run(ctx context.Context, doing, script string, stdin []byte, args ...string) (r envs.Result, problem string) {
	r, err := s.sandbox.Run(ctx, envs.Command{
		Args: append([]string{"bash", "-c", script, "bash"}, args...), Env: trustRepository,
		Dir: s.task.Workdir, Stdin: stdin, Timeout: preparing,
	})
	switch {
	case err != nil:
		return r, "the container failed while " + doing + ": " + err.Error()
	case r.Ended != envs.EndedExit:
		return r, doing + " took too long"
	}
	return r, ""
}

func (s *stage) index() string { return "/tmp/relabel-" + s.nonce + ".index" }

// failed words a script's failure with the last of its output.
func failed(doing string, r envs.Result) string {
	const last = 500
	out := bytes.TrimSpace(append(append([]byte(nil), r.Output...), r.Tail...))
	if len(out) > last {
		out = out[len(out)-last:]
	}
	return doing + " failed: " + strings.ToValidUTF8(string(out), "\uFFFD")
}

// noSpace reports whether a full disk was met.
func noSpace(log []byte) bool { return bytes.Contains(log, []byte("No space left on device")) }

// kept is the output to store with a verdict: whole, or its first and last half.
func kept(r envs.Result) []byte {
	out := append(append([]byte(nil), r.Output...), r.Tail...)
	if len(out) <= maxKept && r.Dropped == 0 {
		return out
	}
	half := min(maxKept/2, len(out)/2)
	cut := append([]byte(nil), out[:half]...)
	cut = append(cut, "\n[... the middle of the log is left out ...]\n"...)
	return append(cut, out[len(out)-half:]...)
}
