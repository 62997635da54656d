package openhands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
)

const (
	// defaultQuiet ends a silent command if the run sets no limit (paper G.2).
	defaultQuiet = 120 * time.Second
	// maxCommand is the longest argument that Linux accepts, in bytes.
	maxCommand = 128<<10 - 1
	// chattyFactor bounds a command that keeps printing: it may take this many times the allowed
	// silence, but at least leastTimeout.
	chattyFactor = 10
	leastTimeout = 10 * time.Minute
)

// quiet is how long a command may be silent.
func (e *Episode) quiet() time.Duration {
	if s := e.limits.CommandSeconds; s > 0 {
		return time.Duration(s) * time.Second
	}
	return defaultQuiet
}

// timeout bounds a command in any case: endless output must not use up the whole rollout.
func (e *Episode) timeout() time.Duration {
	t := max(chattyFactor*e.quiet(), leastTimeout)
	if wall := time.Duration(e.limits.WallClockSeconds) * time.Second; wall > 0 {
		t = min(t, wall)
	}
	return t
}

// bash runs a command in a fresh shell in the repository. A command that had to be ended is a failure
// of the tool, a non-zero exit is not.
func (e *Episode) bash(ctx context.Context, args arguments) (relabel.Observation, error) {
	command := args.texts["command"]
	switch {
	case strings.Contains(command, "\x00"):
		return refusal("The command holds a NUL character, which no command line can. Write it as \\0 inside printf, or use a file."), nil
	case len(command) > maxCommand:
		return refusal("The command is %d bytes long, and at most %d can be run. Put the text into a file with str_replace_editor create, in parts if need be.", len(command), maxCommand), nil
	}
	result, err := e.sandbox.Run(ctx, envs.Command{
		Args:  []string{"bash", "-c", command},
		Quiet: e.quiet(), Timeout: e.timeout(), MaxOutput: maxShown,
	})
	if err != nil {
		return relabel.Observation{}, broken("running a command", err)
	}
	o := relabel.Observation{ExitCode: new(result.Exit), Failed: result.Ended != envs.EndedExit}
	o.Content = shown(result.Output, result.Tail, result.Dropped, maxShown)
	if o.Content != "" && !strings.HasSuffix(o.Content, "\n") {
		o.Content += "\n"
	}
	o.Content += e.ending(result)
	return o, nil
}

// ending is the line about a command's end.
func (e *Episode) ending(r envs.Result) string {
	const advice = "Run what takes long in the background with its output in a file (command > /tmp/out.log 2>&1 &), and look at the file later."
	switch r.Ended {
	case envs.EndedQuiet:
		return fmt.Sprintf("[The command printed nothing for %s and was ended, exit code %d. %s]", seconds(e.quiet()), r.Exit, advice)
	case envs.EndedTimeout:
		return fmt.Sprintf("[The command was still running after %s and was ended, exit code %d. %s]", seconds(e.timeout()), r.Exit, advice)
	}
	if r.Memory {
		return fmt.Sprintf("[exit code %d: the kernel killed a process of the command, because memory was out]", r.Exit)
	}
	return fmt.Sprintf("[exit code %d]", r.Exit)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%d seconds", int(d.Seconds())) }

// refusal is the observation of a call that the tool refuses.
func refusal(format string, args ...any) relabel.Observation {
	return relabel.Observation{Content: fmt.Sprintf(format, args...), Failed: true}
}

// broken is the error of a failed sandbox, with its cause if that is safe to show.
func broken(doing string, err error) error {
	if relabel.CodeOf(err) == relabel.CodeDisk { // the agent is the cause
		return err
	}
	if known, ok := errors.AsType[*relabel.Error](err); ok && known.Code == relabel.CodeEnvironment {
		return relabel.Errorf(relabel.CodeEnvironment, "the sandbox failed while %s: %s", doing, known.Message).Because(err)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "the sandbox failed while %s", doing).Because(err)
}
