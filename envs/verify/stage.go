package verify

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/protect"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
	"relabel/tasks"
)

// maxReading limits the output of readScript, in bytes.
const maxReading = 120 << 20

// stage is a running trial in its container.
type stage struct {
	sandbox envs.Sandbox
	candidate
	nonce string
	tree.Reading
	dropped []relabel.DroppedPath
	guarded []string // files of the tests that must not change during the run
}

// play runs the steps of a trial: apply the patch to an index, decide what is graded, write that and
// the tests into the working tree, run the tests, judge.
func (s *stage) play(ctx context.Context) trial {
	t := s.start(ctx)
	if t == nil {
		t = s.read(ctx)
	}
	if t == nil {
		t = s.lay(ctx)
	}
	if t == nil {
		tested := s.test(ctx)
		t = &tested
	}
	t.verdict.DroppedCount = len(s.dropped)
	t.verdict.Dropped = s.dropped[:min(len(s.dropped), relabel.MaxDroppedPaths)]
	return *t
}

// start makes the state that work on the task starts from. It returns a trial if that fails.
func (s *stage) start(ctx context.Context) *trial {
	if s.task.StartPatch == "" {
		return nil
	}
	if err := envs.ApplyStartPatch(ctx, s.sandbox, s.task); err != nil {
		t := doubtful("%v", err)
		return &t
	}
	s.task.BaseCommit = "" // the commit that it made, which is HEAD
	return nil
}

// read checks out the base commit and applies the patch to an index. It returns a trial if that
// decides it.
func (s *stage) read(ctx context.Context) *trial {
	own := ""
	if s.own {
		own = "own"
	}
	command, _ := testcmd.Of(s.task)
	args := append([]string{s.Index(), s.task.BaseCommit, inspectProgram, own}, testcmd.Interpreters(command)...)
	doing := "preparing the repository in " + s.task.Workdir + " at " + cmp.Or(s.task.BaseCommit, "HEAD")
	r, problem := s.Run(ctx, doing, readScript, bytes.TrimLeft(s.patch, "\n"), maxReading, args...)
	switch {
	case problem != "":
	case r.Exit == notApplied && outsidePath.Match(r.Output):
		return &trial{verdict: relabel.Verdict{Reason: relabel.VerdictUnsafe, Output: kept(r)}}
	case r.Exit == notApplied:
		return &trial{verdict: relabel.Verdict{Reason: relabel.VerdictDoesNotApply, Output: kept(r)}}
	case r.Exit == unreadable:
		return &trial{verdict: relabel.Verdict{Reason: relabel.VerdictUnsafe, Output: append([]byte(unreadableNote), kept(r)...)}}
	case r.Exit != 0:
		problem = protect.Failed(doing, r)
	case r.Dropped > 0:
		problem = "the repository has too many files"
	default:
		return s.decide(r.Output)
	}
	return &trial{ran: len(s.patch) > 0, doubt: problem}
}

// outsidePath matches git's refusal of a path.
var outsidePath = regexp.MustCompile(`invalid path|beyond a symbolic link`)

const unreadableNote = "git cannot read the patch or finds no change in it, or it adds more than 500 links, " +
	"or more than 5,000 files and one of them below a symlink of the base\n"

// decide reads git's description of the patch and refuses unsafe changes.
func (s *stage) decide(output []byte) *trial {
	var ok bool
	if s.Reading, ok = tree.ParseReading(output); !ok {
		return &trial{ran: len(s.patch) > 0, doubt: "the output of git about the patch is broken"}
	}
	if problem := tree.Unsafe(s.Changes); problem != "" {
		return &trial{verdict: relabel.Verdict{Reason: relabel.VerdictUnsafe, Output: []byte(problem)}}
	}
	return nil
}

// lay writes the graded changes and the task's test patch into the working tree. It returns a trial
// if that fails, which the submission may have caused.
func (s *stage) lay(ctx context.Context) *trial {
	split, problem := protect.Decide(ctx, s, s.task, s.Reading, s.own)
	if problem != "" {
		return &trial{ran: true, doubt: problem}
	}
	s.guarded = split.Guarded
	var input bytes.Buffer
	for _, removed := range []bool{true, false} { // removals first
		for _, d := range split.Dropped {
			if d.Removed == removed {
				input.WriteString(d.Entry)
			}
		}
	}
	for _, d := range split.Dropped {
		s.dropped = append(s.dropped, d.Reason)
	}
	input.WriteByte(0)
	if script, ok := tasks.SplitEvalScript(s.task.EvalScript); !ok || !script.AppliesTestPatch() {
		input.WriteString(s.task.TestPatch)
	}
	const doing = "applying the task's test patch"
	r, problem := s.Run(ctx, doing, layScript, input.Bytes(), 0, s.Index(), s.Tree)
	unapplied := problem == "" && r.Exit != 0
	if unapplied {
		problem = protect.Failed(doing, r)
	}
	if problem == "" {
		return nil
	}
	return &trial{ran: len(s.patch) > 0, doubt: problem, unapplied: unapplied}
}

// Read returns the first max bytes of a file of the repository.
func (s *stage) Read(ctx context.Context, name string, max int64) ([]byte, error) {
	data, _, err := s.sandbox.ReadFile(ctx, path.Join(s.task.Workdir, name), max)
	return data, err
}

// Run runs a script in the repository and reads at most output bytes of its output (0: the default).
// problem tells how the container failed.
func (s *stage) Run(ctx context.Context, doing, script string, stdin []byte, output int, args ...string) (r envs.Result, problem string) {
	return s.script(ctx, doing, envs.Command{
		Args: append([]string{"bash", "-c", script, "bash"}, args...), Stdin: stdin, Timeout: preparing, MaxOutput: output,
	})
}

// look runs a short script before or after the tests. It has a short time limit, because code of the
// submission may have replaced the programs that it calls.
func (s *stage) look(ctx context.Context, doing, script string, stdin []byte) (r envs.Result, problem string) {
	return s.script(ctx, doing, envs.Command{Args: []string{"bash", "-c", script, "bash"}, Stdin: stdin, Timeout: looking, MaxOutput: maxReading})
}

// script runs a command in the repository. problem tells how the container failed.
func (s *stage) script(ctx context.Context, doing string, command envs.Command) (r envs.Result, problem string) {
	command.Env, command.Dir = trustRepository, s.task.Workdir
	r, err := s.sandbox.Run(ctx, command)
	switch {
	case err != nil:
		return r, "the container failed while " + doing + ": " + err.Error()
	case r.Ended != envs.EndedExit:
		return r, doing + " took too long"
	}
	return r, ""
}

// Index is the path of the index that the patch is applied to.
func (s *stage) Index() string { return "/tmp/relabel-" + s.nonce + ".index" }

// noSpace reports whether a log shows that the disk was full.
func noSpace(log []byte) bool { return bytes.Contains(log, []byte("No space left on device")) }

// kept is the output to store with a verdict. It omits the middle of long output.
func kept(r envs.Result) []byte {
	out := slices.Concat(r.Output, r.Tail)
	if len(out) <= maxKept && r.Dropped == 0 {
		return out
	}
	half := min(maxKept/2, len(out)/2)
	return slices.Concat(out[:half], []byte("\n[... the middle of the log is left out ...]\n"), out[len(out)-half:])
}
