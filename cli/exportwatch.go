package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"relabel"
)

// pollPeriod is the time between two polls of an export.
const pollPeriod = 500 * time.Millisecond

// WatchExport waits for an export's end and prints a line when a part is done and when a wait
// begins or ends.
func WatchExport(ctx context.Context, cl *Session, id relabel.ID) (e relabel.Export, err error) {
	said := ""
	err = poll(ctx, pollPeriod, func() (bool, error) {
		if e, err = cl.Export(ctx, id); err != nil {
			return false, err
		}
		switch e.State {
		case relabel.ExportDone:
			return true, nil
		case relabel.ExportFailed:
			return true, relabel.Errorf(relabel.CodeInternal, "the export failed: %s", e.Failure)
		case relabel.ExportCancelled:
			return true, relabel.Errorf(relabel.CodeConflict, "the export was cancelled")
		}
		if now := cmp.Or(waits(e), stateOf(e)); now != said {
			said = now
			fmt.Fprintf(os.Stderr, "%s  %s\n", id, now)
		}
		return false, nil
	})
	return e, err
}

// stateOf describes the state and progress of an export.
func stateOf(e relabel.Export) string {
	state := string(e.State)
	if e.State == relabel.ExportRunning && e.Parts > 0 {
		state = fmt.Sprintf("%s, %d of %d parts", e.State, e.PartsDone, e.Parts)
	}
	if e.Waiting != "" {
		state += ", waiting"
	}
	return state
}

// waits describes why and since when an export waits; "" if it does not.
func waits(e relabel.Export) string {
	if e.Waiting == "" || e.WaitingSince == nil {
		return ""
	}
	return fmt.Sprintf("waiting since %s: %s", e.WaitingSince.Local().Format(time.DateTime), oneLine(e.Waiting))
}

// promptWords describes the comparison of an export's prompts with those of the student's server.
func promptWords(p relabel.PromptCheck) string {
	switch {
	case p.Compared == 0:
		return "nothing to compare: the student did not act, or its server gave no prompt ids"
	case p.Differ == 0:
		return fmt.Sprintf("all %d compared prompts equal those that the student's server received", p.Compared)
	case p.First == nil:
		return fmt.Sprintf("%d of %d differ from those that the student's server received", p.Differ, p.Compared)
	}
	return fmt.Sprintf("%d of %d differ from those that the student's server received, which has another template, other template variables or another tokenizer: first in turn %d of %s at token %d, here %q, there %q",
		p.Differ, p.Compared, p.First.Turn, p.First.Trajectory, p.First.At, p.First.Ours, p.First.Theirs)
}

// exportDelete is `relabel export delete ID`.
type exportDelete struct {
	exportFlags
	LeaveFiles bool `help:"Delete its record even if its files cannot be removed, and print what is left."`
}

// Run deletes an export.
func (c *exportDelete) Run(ctx context.Context) error {
	return c.withExport(ctx, func(cl *Session, id relabel.ID) error {
		deleted, err := cl.DeleteExport(ctx, id, c.LeaveFiles)
		if err != nil {
			return err
		}
		fmt.Printf("%s is deleted\n", id)
		if deleted.Left != "" {
			say("%s", deleted.Left)
		}
		return nil
	})
}
