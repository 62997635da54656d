package reposearcher

import (
	"context"
	"strings"
	"time"

	"relabel"
	"relabel/codeindex"
	"relabel/ranking"
)

// Repositories gives access to repositories at their commits. It is safe for concurrent use. Errors are
// CodeNotFound for a repository or commit that does not exist, CodeInvalid for a name or id that is none, or
// CodeEnvironment.
type Repositories interface {
	// Index returns the index of a repository at a commit.
	Index(ctx context.Context, repository, commit string) (*codeindex.Index, error)
	// Read returns at most limit bytes of a file's content, and its size in bytes.
	Read(ctx context.Context, repository, blob string, limit int64) (data []byte, size int64, err error)
}

// The texts of the environment.
const (
	searchEndedText = "The search has ended. Answer now, without a tool call: a list in a fence of three backticks, one path::Qualified.name per line, best first."
	afterExitText   = "error: the search has ended, so nothing was run. Answer without a tool call: a list in a fence of three backticks, one path::Qualified.name per line, best first."
	noCallText      = "error: your message calls no tool, so nothing was done. Search with a tool call, or call Exit before you answer."
)

// Episode is one search of a repository, for one goroutine at a time.
type Episode struct {
	repositories Repositories
	repository   string
	commit       string
	index        *codeindex.Index
	offered      []relabel.Tool
	limit        int // bytes of an observation

	ended  bool     // Exit was called
	answer []string // the ranked list, nil before
}

// Start opens the task's repository at its base commit. Errors are those of Repositories.
func Start(ctx context.Context, repositories Repositories, claim relabel.Claim) (*Episode, error) {
	index, err := repositories.Index(ctx, claim.Task.Repo, claim.Task.BaseCommit)
	if err != nil {
		return nil, err
	}
	return &Episode{repositories: repositories, repository: claim.Task.Repo, commit: claim.Task.BaseCommit, index: index,
		offered: claim.Run.Prompts.Tools, limit: claim.Run.Limits.ObservationBytes}, nil
}

// Execute runs the calls of turn t's action in order and returns an observation for each. Exit ends the
// search: later calls are answered with an error. After Exit an action without a call is the answer and
// ends the rollout, without an observation.
//
// Observation.Failed marks every call that does not succeed by the paper's rule (appendix A): an existing
// tool, valid parameters, of which file and name exist in the repository, and a result. Errors are those
// of Repositories.
func (e *Episode) Execute(ctx context.Context, t int, action relabel.Message) ([]relabel.Observation, bool, error) {
	if len(action.ToolCalls) == 0 {
		return e.words(action)
	}
	var observations []relabel.Observation
	for k, call := range action.ToolCalls {
		start := time.Now()
		o, err := e.call(ctx, call)
		if err != nil {
			return nil, false, err
		}
		o.CallID, o.Tool = relabel.CallID(t, k), call.Name
		o.Millis = time.Since(start).Milliseconds()
		observations = append(observations, o)
	}
	return observations, false, nil
}

// words takes an action without a call: the answer, after Exit.
func (e *Episode) words(action relabel.Message) ([]relabel.Observation, bool, error) {
	if !e.ended {
		return []relabel.Observation{failed(noCallText)}, false, nil
	}
	list, _ := ranking.Parse(action.Content)
	e.answer = ranking.Deduplicate(list)
	return nil, true, nil
}

// call executes one call.
func (e *Episode) call(ctx context.Context, call relabel.ToolCall) (relabel.Observation, error) {
	if e.ended {
		return failed(afterExitText), nil
	}
	u := understand(e.offered, call)
	switch {
	case u.outcome != relabel.ParsedOK:
		return failed(u.problem), nil
	case call.Name == toolExit:
		e.ended = true
		return relabel.Observation{Content: searchEndedText}, nil
	case call.Name == toolStructure:
		return relabel.Observation{Content: structure(e.index.Root(), e.limit)}, nil
	}
	return e.read(ctx, call.Name, u.texts)
}

// failed is the observation of a call that does not succeed.
func failed(text string) relabel.Observation { return relabel.Observation{Content: text, Failed: true} }

// Tree returns the commit: a search changes nothing.
func (e *Episode) Tree(context.Context) (string, error) { return e.commit, nil }

// Patch takes the submission: the ranked list without duplicates, one entry per line. It is valid with
// at least one entry.
func (e *Episode) Patch(context.Context) (list []byte, valid bool, err error) {
	if len(e.answer) == 0 {
		return nil, false, nil
	}
	return []byte(strings.Join(e.answer, "\n") + "\n"), true, nil
}

// Sandbox names no engine and no container: there is none.
func (e *Episode) Sandbox() (dockerHost, container string) { return "", "" }

// Close does nothing: the index belongs to the process.
func (e *Episode) Close(context.Context) error { return nil }
