package openhands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/scaffold/arguments"
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

// Command is the result of a shell command.
type Command struct {
	Refused string      // why it was not run; "" if it was
	Text    string      // its output as valid UTF-8, with the middle left out if it is long
	Cut     string      // a line that says that it had to be ended, or was killed for memory; "" if not
	Result  envs.Result // not set if it was refused
}

// RunCommand runs a command in a fresh shell in the repository, with nothing on its standard input.
// Errors are CodeEnvironment, or CodeDisk if commands filled the disk.
func (e *Episode) RunCommand(ctx context.Context, command string) (Command, error) {
	switch {
	case strings.Contains(command, "\x00"):
		return Command{Refused: "The command holds a NUL character, which no command line can. Write it as \\0 inside printf, or use a file."}, nil
	case len(command) > maxCommand:
		return Command{Refused: fmt.Sprintf("The command is %d bytes long, and at most %d can be run. Put the text into a file with str_replace_editor create, in parts if need be.", len(command), maxCommand)}, nil
	}
	result, err := e.sandbox.Run(ctx, envs.Command{
		Args: []string{"bash", "-c", command}, Env: e.env,
		Quiet: e.quiet(), Timeout: e.timeout(), MaxOutput: maxShown,
	})
	if err != nil {
		return Command{}, broken("running a command", err)
	}
	text := shown(result.Output, result.Tail, result.Dropped, maxShown)
	return Command{Text: text, Cut: e.cut(result), Result: result}, nil
}

// bash runs a command. A command that had to be ended is a failure of the tool, a non-zero exit is
// not.
func (e *Episode) bash(ctx context.Context, args arguments.Arguments) (relabel.Observation, error) {
	c, err := e.RunCommand(ctx, args.Texts["command"])
	switch {
	case err != nil:
		return relabel.Observation{}, err
	case c.Refused != "":
		return refusal("%s", c.Refused), nil
	}
	o := relabel.Observation{ExitCode: new(c.Result.Exit), Failed: c.Result.Ended != envs.EndedExit}
	o.Content = c.Text
	if o.Content != "" && !strings.HasSuffix(o.Content, "\n") {
		o.Content += "\n"
	}
	o.Content += cmp.Or(c.Cut, fmt.Sprintf("[exit code %d]", c.Result.Exit))
	return o, nil
}

// cut is the line about a command that had to be ended or was killed for memory; "" if neither.
func (e *Episode) cut(r envs.Result) string {
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
	return ""
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
