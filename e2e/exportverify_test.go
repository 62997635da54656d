package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
	"relabel/shard/verify"
	"relabel/store/storetest"
)

// verified is what `relabel export verify --json` prints.
type verified struct {
	Sound bool `json:"sound"`
	verify.Report
}

// exportedWith exports a seeded run by command, without a server, and returns the folder.
func exportedWith(t *testing.T, p place, tokenizer, views string) string {
	t.Helper()
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	run := seedRounds(t, s, relabel.DAgger)
	p.must(t, "export", "start", run.Name, "--view", views, "--tokenizer", tokenizer)
	manifests, err := filepath.Glob(filepath.Join(p.data, "exports", "*", "manifest.json"))
	noError(t, err)
	if len(manifests) != 1 {
		t.Fatalf("%d exports are there", len(manifests))
	}
	return filepath.Dir(manifests[0])
}

// TestExportVerifyReportsLabelsThatWereNotRenderedAgain: in words and as JSON, beside a PASS that
// would else say that all labels are what their states render to.
func TestExportVerifyReportsLabelsThatWereNotRenderedAgain(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	tokenizer := shardtest.Student(t)
	dir := exportedWith(t, p, tokenizer, "messages,linear,tree")
	if said, code := p.command(t, "export", "verify", dir); code == 0 || !strings.Contains(said, "no running server has the registered tokenizer") || !strings.Contains(said, "--no-render") {
		t.Errorf("without a tokenizer: %d, %s", code, said)
	}
	report := func(args ...string) (text string, r verified, code int) {
		t.Helper()
		args = append([]string{"export", "verify", dir}, args...)
		text, code = p.command(t, args...)
		said, again := p.command(t, append(args, "--json")...)
		if err := json.NewDecoder(strings.NewReader(said)).Decode(&r); err != nil || again != code || strings.HasPrefix(text, "PASS") != r.Sound {
			t.Fatalf("%v: %d, %s as JSON %d, %v: %s", args, code, text, again, err, said)
		}
		return text, r, code
	}
	text, r, code := report("--tokenizer", tokenizer)
	if code != 0 || !r.Sound || strings.Contains(text, "NOT rendered again") || r.Unchecked == nil || len(r.Unchecked) > 0 || r.Labels == 0 || r.Rendered == 0 {
		t.Errorf("%d, %+v: %s", code, r, text)
	}
	labels := r.Labels
	text, r, code = report("--no-render")
	const why = "no tokenizer and template were given"
	want := []verify.Unchecked{{View: relabel.ViewLinear, Labels: labels, Why: why}, {View: relabel.ViewTree, Labels: labels, Why: why}}
	if code != 0 || !r.Sound || !slices.Equal(r.Unchecked, want) || r.Labels != 0 || !strings.Contains(text, "; NOT rendered again: linear ") || !strings.Contains(text, why) {
		t.Errorf("%d, %+v: %s", code, r, text)
	}
	noError(t, os.Remove(filepath.Join(dir, "README.md")))
	text, r, code = report("--tokenizer", tokenizer)
	if code == 0 || r.Sound || r.Counts["readme"] == 0 || len(r.Problems) == 0 || !strings.Contains(text, "FAIL") {
		t.Errorf("without README.md: %d, %+v: %s", code, r, text)
	}
}
