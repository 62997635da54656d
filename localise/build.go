package localise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/codeindex"
)

// Reason says why a candidate becomes no task.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	Excluded   Reason = "excluded"
	Duplicate  Reason = "duplicate"
	ShortIssue Reason = "short_issue"
	NoMirror   Reason = "no_mirror"
	NoCommit   Reason = "no_commit"
	NotApplied Reason = "not_applied"
	NonCode    Reason = "non_code"
	TestsOnly  Reason = "tests_only"
	NoGold     Reason = "no_gold"
)

// Reasons lists every Reason in order.
var Reasons = []Reason{Excluded, Duplicate, ShortIssue, NoMirror, NoCommit, NotApplied, NonCode, TestsOnly, NoGold}

var reasonTexts = map[Reason]string{
	Excluded:   "the repository or the instance is excluded",
	Duplicate:  "another one has the same instance id, or is the same pair",
	ShortIssue: "the issue has fewer than 100 characters",
	NoMirror:   "the mirror is missing or damaged",
	NoCommit:   "the mirror lacks a commit",
	NotApplied: "the change does not apply to the base",
	NonCode:    "it changes no source file: documentation, configuration and the like",
	TestsOnly:  "of source files it changes only tests",
	NoGold:     "it only adds files, or changes comments and blank lines",
}

// Text says it in words.
func (r Reason) Text() string { return reasonTexts[r] }

// Builder makes tasks of candidates.
type Builder struct {
	Repositories Repositories
	Exclude      *Exclusions
	Done         *atomic.Int64 // counts the candidates that are done; nil: nobody asks
}

// Dropped is a candidate that became no task.
type Dropped struct {
	InstanceID string `json:"instance_id"`
	Reason     Reason `json:"reason"`
	Detail     string `json:"detail"`
}

// LanguageCount counts the gold in one language. A task counts for each language of its gold files.
type LanguageCount struct {
	Tasks     int `json:"tasks"`
	Files     int `json:"files"`
	Functions int `json:"functions"`
}

// Result has tasks and what was dropped, both in the order of the candidates.
type Result struct {
	Tasks          []relabel.Task                       `json:"-"`
	Candidates     int                                  `json:"candidates"`
	Made           int                                  `json:"tasks"`
	Files          int                                  `json:"gold_files"`
	Functions      int                                  `json:"gold_functions"`
	FilesOnly      int                                  `json:"tasks_without_functions"`
	AddedFunctions int                                  `json:"added_functions"` // that are no gold, since the base lacks them
	Languages      map[codeindex.Language]LanguageCount `json:"languages"`
	Counts         map[Reason]int                       `json:"dropped_by_reason"`
	Dropped        []Dropped                            `json:"dropped"`
}

// Build makes tasks on all CPUs.
func (b *Builder) Build(ctx context.Context, candidates []Candidate) (Result, error) {
	all := make([]made, len(candidates))
	drops := make([]*drop, len(candidates))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range candidates {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			all[i], err = b.build(ctx, c)
			var d drop
			if errors.As(err, &d) {
				drops[i], err = &d, nil
			}
			if b.Done != nil {
				b.Done.Add(1)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Result{}, err
	}
	r := Result{Candidates: len(candidates), Languages: map[codeindex.Language]LanguageCount{}, Counts: map[Reason]int{}, Dropped: []Dropped{}}
	for i, c := range candidates {
		if d := drops[i]; d != nil {
			r.Counts[d.reason]++
			r.Dropped = append(r.Dropped, Dropped{c.InstanceID, d.reason, d.detail})
		} else {
			r.add(all[i])
		}
	}
	return r, nil
}

func (r *Result) add(m made) {
	r.Tasks = append(r.Tasks, m.task)
	r.Made++
	r.Files += len(m.task.GoldFiles)
	r.Functions += len(m.task.GoldFunctions)
	r.AddedFunctions += m.added
	if len(m.task.GoldFunctions) == 0 {
		r.FilesOnly++
	}
	for language, n := range m.languages {
		sum := r.Languages[language]
		sum.Tasks++
		sum.Files += n.files
		sum.Functions += n.functions
		r.Languages[language] = sum
	}
}

// line is a task as a line of a task file.
type line struct {
	Kind             relabel.TaskKind `json:"kind"`
	InstanceID       string           `json:"instance_id"`
	Repository       string           `json:"repository"`
	BaseCommit       string           `json:"base_commit"`
	ProblemStatement string           `json:"problem_statement"`
	HintsText        string           `json:"hints_text,omitempty"`
	GoldFiles        []string         `json:"gold_files"`
	GoldFunctions    []string         `json:"gold_functions"`
}

// Write writes tasks as a task file.
func Write(w io.Writer, all []relabel.Task) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, t := range all {
		functions := t.GoldFunctions
		if functions == nil {
			functions = []string{}
		}
		err := out.Encode(line{cmp.Or(t.Kind, relabel.Localise), t.InstanceID, t.Repo, t.BaseCommit, t.ProblemStatement, t.HintsText, t.GoldFiles, functions})
		if err != nil {
			return err
		}
	}
	return nil
}
