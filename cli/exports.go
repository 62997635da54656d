package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/api/client"
	"relabel/safetext"
)

// PrintExport prints the location and contents of a data set, or why there is none.
func PrintExport(e relabel.Export) error {
	switch e.State {
	case relabel.ExportDone:
		say("%s  %s: %d labelled states as %s in %s", e.ID, e.State, e.Rows, ViewWords(e.Form.Views), e.Directory)
	case relabel.ExportFailed:
		say("%s  %s: %s", e.ID, e.State, e.Failure)
	default:
		say("%s  %s", e.ID, stateOf(e))
		if why := waits(e); why != "" {
			say("  %s", why)
		}
	}
	fmt.Println("  " + taken(e))
	for _, p := range e.Pushes {
		say("  %s", pushText(p))
	}
	return PrintFiles(e)
}

// taken describes the trajectories and iterations of a data set.
func taken(e relabel.Export) string {
	text := e.Selection.DescribeIterations() + ": " + e.Selection.Describe()
	if e.Mix != nil {
		text += "; " + e.Mix.Describe()
	}
	return "taken from " + safetext.TerminalLine(text)
}

// PrintFiles prints what was left out of an export, and its files.
func PrintFiles(e relabel.Export) error {
	for _, reason := range slices.Sorted(maps.Keys(e.Excluded)) {
		say("  excluded: %d × %s", e.Excluded[reason], reasonText(reason))
	}
	if e.PromptCheck != nil {
		fmt.Println("  prompts: " + promptWords(*e.PromptCheck))
	}
	if e.ModelCheck == relabel.ModelNotChecked {
		fmt.Println("  model: not checked for recurrent layers, which cannot train on trees: the tokenizer's folder has no config.json")
	}
	if len(e.Files) == 0 {
		return nil
	}
	heads := []string{"FILE", "ROWS", "TOKENS", "SUPERVISED", "BYTES", "SHA-256"}
	return printTable(e.Files, heads, func(f relabel.ExportFile) []any {
		return []any{f.Path, orDash(f.Rows), orDash(f.Tokens), orDash(f.SupervisedTokens), f.Bytes, f.SHA256}
	})
}

// orDash is a count of a file, a dash where it has none.
func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

// printManifest prints what an export has beside its counts: preferences, sources of a mix, secrets, and how to train.
func printManifest(m relabel.Manifest) error {
	if m.Preferences != nil {
		fmt.Println("  " + m.Preferences.Describe())
	}
	if m.Secrets != nil {
		for _, rule := range slices.Sorted(maps.Keys(m.Secrets.Found)) {
			say("  secrets: %d × %s; README.md lists them, and --exclude-secrets would exclude their states", m.Secrets.Found[rule], rule)
		}
	}
	if m.For != nil {
		say("  train with %s, in its folder: %s", m.For.Trainer, m.For.Command)
	}
	if m.Mix == nil {
		return nil
	}
	return printSources(m)
}

// printSources prints what each source of a mix gave.
func printSources(m relabel.Manifest) error {
	t := newTable("SOURCE", "RUN", "ITERATION", "FACTOR", "LABELS", "SUPERVISED", "WEIGHT", "SHARE OF SOURCE")
	for n, source := range m.Mix.Sources {
		name := m.SourceName(source.Run)
		for _, it := range source.Iterations {
			t.row(n, name, it.Iteration, it.Factor, it.Labels, it.SupervisedTokens, fmt.Sprintf("%.6g", it.Weight), fmt.Sprintf("%.2f%%", 100*source.Share))
		}
		if len(source.Iterations) == 0 {
			t.row(n, name, "–", "–", 0, 0, 0, "0.00%")
		}
	}
	return t.print()
}

// reasonText is why states were excluded, with the flag that would include those of a benchmark or exclusion list.
func reasonText(reason string) string {
	if name, is := relabel.CutBenchmarkReason(reason); is {
		return fmt.Sprintf("states of tasks that %s, a benchmark or exclusion list, reserves: --allow-benchmark %[1]s would include them", name)
	}
	return reason
}

// PrintOptions prints the options of an export, as its page does.
func PrintOptions(e relabel.Export) error {
	options, err := json.Marshal(struct {
		Selection relabel.ExportSelection `json:"selection"`
		Mix       *relabel.Mix            `json:"mix,omitempty"`
		Form      relabel.ExportForm      `json:"form"`
	}{e.Selection, e.Mix, e.Form})
	if err == nil {
		fmt.Println("  options: " + safetext.TerminalLine(string(options)))
	}
	return err
}

// exportList is `relabel export list`.
type exportList struct {
	ClientFlags
	api.ExportQuery
}

// Run prints the exports.
func (c *exportList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if err := mustExist(ctx, cl, c.ExportQuery.Run); err != nil {
			return err
		}
		exports, err := cl.Exports(ctx, client.Values(c.ExportQuery))
		if err != nil {
			return err
		}
		runs, err := cl.Runs(ctx)
		if err != nil {
			return err
		}
		heads := []string{"ID", "RUN", "ITERATIONS", "VIEWS", "STATES", "STATE", "WHERE", "WHY"}
		return printTable(exports, heads, func(e relabel.Export) []any {
			name := e.Selection.RunID.String()
			if run := Find(runs, func(r relabel.Run) bool { return r.ID == e.Selection.RunID }); run != nil {
				name = run.Name
			}
			where := "" // empty before it is done
			if e.State == relabel.ExportDone {
				where = e.Directory
			}
			return []any{e.ID, name, e.Selection.DescribeIterations(), ViewWords(e.Form.Views), e.Rows, stateOf(e), where, cmp.Or(e.Failure, e.Waiting)}
		})
	})
}

// exportFlags name an export.
type exportFlags struct {
	ClientFlags
	ID string `arg:"" help:"Id of the export."`
}

// withExport opens a session and calls use with the id.
func (f exportFlags) withExport(ctx context.Context, use func(*Session, relabel.ID) error) error {
	return f.With(ctx, func(cl *Session) error {
		id, err := idOf("export", "<id>", f.ID, "export list")
		if err != nil {
			return err
		}
		return use(cl, id)
	})
}

func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ViewWords lists views.
func ViewWords(views []relabel.View) string {
	var words []string
	for _, v := range views {
		words = append(words, string(v))
	}
	return strings.Join(words, ", ")
}

// exportCancel is `relabel export cancel ID`.
type exportCancel struct{ exportFlags }

// Run cancels an export.
func (c *exportCancel) Run(ctx context.Context) error {
	return c.withExport(ctx, func(cl *Session, id relabel.ID) error {
		e, err := cl.CancelExport(ctx, id)
		if err != nil {
			return err
		}
		return PrintExport(e)
	})
}
