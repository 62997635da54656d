// Package bare is a scaffold for small students: the three tools of package openhands without a system
// prompt and without schemas. The first message is the problem statement alone, an observation of a
// command is its output alone, and the editor answers in one line and takes relative paths. A prompt
// has no text that is the same in every task.
package bare

import (
	"context"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/scaffold/openhands"
)

// Name is the value of a run's Scaffold for this scaffold.
const Name = "bare"

// The names of the tools, as models call them.
const (
	toolBash   = "execute_bash"
	toolEditor = "str_replace_editor"
	toolFinish = "finish"
)

// NotParsed is the observation of a call that cannot be read, and of an answer that was cut.
const NotParsed = "could not parse the tool call"

// The observations of other calls that are not run, and of commands without output.
const (
	unknownTool = "unknown tool"
	noOutput    = "(no output)"
)

// DefaultPrompts are the default texts of a run: only the first message, which is the problem statement.
func DefaultPrompts() relabel.Prompts { return relabel.Prompts{First: "{problem_statement}"} }

// CheckPrompts checks a run's own texts. A run that describes tools to its models needs those of package
// openhands. Errors are CodeInvalid and name the field.
func CheckPrompts(p relabel.Prompts) error {
	if len(p.Tools) == 0 {
		p.Tools = openhands.DefaultPrompts().Tools
	}
	return openhands.CheckPrompts(p)
}

// Parse classifies an action without running it, as openhands.Parse does.
func Parse(offered []relabel.Tool, action relabel.Message) relabel.ParseOutcome {
	return openhands.Parse(offered, action)
}

// Episode is one sandbox with the scaffold around it, for one goroutine at a time.
type Episode struct {
	*openhands.Episode
	workdir string
}

// Start is openhands.Start.
func Start(ctx context.Context, host envs.Host, claim relabel.Claim) (*Episode, error) {
	e, err := openhands.Start(ctx, host, claim)
	if err != nil {
		return nil, err
	}
	return &Episode{Episode: e, workdir: claim.Task.Workdir}, nil
}

// Execute runs the calls of turn t's action in order, as openhands.Episode.Execute does, with shorter
// observations: "could not parse the tool call" for an action without a call and for arguments that
// cannot be used, "unknown tool", and an empty one for finish.
func (e *Episode) Execute(ctx context.Context, t int, action relabel.Message) ([]relabel.Observation, bool, error) {
	if len(action.ToolCalls) == 0 {
		return []relabel.Observation{{Content: NotParsed, Failed: true}}, false, nil
	}
	var observations []relabel.Observation
	for k, call := range action.ToolCalls {
		start := time.Now()
		texts, outcome := openhands.Texts(call)
		o, err := e.act(ctx, call.Name, texts, outcome)
		if err != nil {
			return nil, false, err
		}
		o.CallID, o.Tool = relabel.CallID(t, k), call.Name
		o.Millis = time.Since(start).Milliseconds()
		observations = append(observations, o)
		if call.Name == toolFinish && outcome == relabel.ParsedOK {
			return observations, true, nil
		}
	}
	return observations, false, nil
}

// act executes one call.
func (e *Episode) act(ctx context.Context, name string, texts map[string]string, outcome relabel.ParseOutcome) (relabel.Observation, error) {
	switch {
	case outcome == relabel.UnknownTool:
		return failed(unknownTool), nil
	case outcome != relabel.ParsedOK:
		return failed(NotParsed), nil
	case name == toolBash:
		return e.bash(ctx, texts["command"])
	case name == toolEditor:
		return e.edit(ctx, texts)
	}
	return relabel.Observation{}, nil
}

// bash runs a command. The observation is its output without the last line ends. A command that had to
// be ended, or that the kernel killed, has a line about that.
func (e *Episode) bash(ctx context.Context, command string) (relabel.Observation, error) {
	c, err := e.RunCommand(ctx, command)
	switch {
	case err != nil:
		return relabel.Observation{}, err
	case c.Refused != "":
		return failed(c.Refused), nil
	}
	text := strings.TrimRight(c.Text, "\n")
	switch {
	case c.Cut != "" && text != "":
		text += "\n" + c.Cut
	case c.Cut != "":
		text = c.Cut
	case text == "":
		text = noOutput
	}
	return relabel.Observation{Content: text, ExitCode: new(c.Result.Exit), Failed: c.Result.Ended != envs.EndedExit}, nil
}

// failed is the observation of a call that a tool refuses.
func failed(text string) relabel.Observation {
	return relabel.Observation{Content: text, Failed: true}
}
