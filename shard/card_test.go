package shard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"relabel"
)

// cardStore is a store with three tasks of two repositories, one of a benchmark that is allowed.
func cardStore(t *testing.T) *fixedStore {
	t.Helper()
	s := newFixedStore(someTrajectory(1, 0, 3), someTrajectory(1, 2, 3), someTrajectory(2, 4, 3))
	s.run.Name, s.run.Scaffold, s.run.TasksetRevision = "issues | of *us*", "openhands", 2
	s.benchmarks = []relabel.ProvenanceBenchmark{{Name: "verified", Kind: relabel.ProvenanceOfBenchmark, Size: 500, Exported: 1}, {Name: "private", Kind: relabel.ProvenanceOfExclusions, Size: 12}}
	for i, task := range []relabel.Task{
		{Repo: "acme/one", Licence: "MIT License", Image: "acme/one@sha256:" + strings.Repeat("ab", 32)},
		{Repo: "acme/one", Licence: "MIT License", Image: "acme/one:latest"},
		{Repo: "acme/<two>", Image: "acme/two:latest"},
	} {
		was := &s.list[i].Task
		was.ID, was.Repo, was.Licence, was.Image = fixedID("task %d", i), task.Repo, task.Licence, task.Image
	}
	s.list[1].Trajectory.Kappa = new(3)
	s.list[2].Student.Weights = &relabel.LoadedWeights{SHA256: strings.Repeat("cd", 32), Kind: relabel.WeightsAdapter, Path: "/secret/adapters/2"}
	fingerprint := relabel.Fingerprint{BaseURL: "http://gpu-7:8000/v1", Version: 1, Method: "completions", Texts: []int32{1}, Tokens: []string{"a"}, Logprobs: []float32{-0.5}}
	silent := relabel.Fingerprint{BaseURL: "http://gpu-8:8000/v1", Reason: "it does not answer", Able: true}
	s.weights = map[int][]relabel.WeightCheck{2: {{Occasion: relabel.WeightsAtStart, At: time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC), Result: relabel.WeightsDoubted,
		Fingerprints: []relabel.Fingerprint{fingerprint, silent}, Doubts: []relabel.Doubted{{Doubt: relabel.WeightsUnchecked, Text: "no answer", Allowed: true}}}}}
	return s
}

func TestTheDataCardSaysWhereTheLabelsComeFrom(t *testing.T) {
	s := cardStore(t)
	e := export(t, s, newTestExporter(t, s))
	text, err := os.ReadFile(filepath.Join(e.Directory, readmeName))
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
	for _, line := range []string{`pretty_name: "issues | of *us*"`, "license: other", "license_name: by-repository", "- text-generation", "- relabel", "- dagger", "- n<1K"} {
		if !slices.Contains(strings.Split(head, "\n"), line) {
			t.Errorf("no line %q in the header\n%s", line, head)
		}
	}
	if !strings.HasPrefix(head, "configs:\n") {
		t.Errorf("the header begins otherwise:\n%s", head)
	}
	for _, part := range []string{
		`# 9 labelled states of issues \| of \*us\*`,
		`| issues \| of \*us\* `, "| dagger | openhands | issues, revision 2, `d0…` | `" + hashText(s.run.Prompts.System)[:12] + "…`, `",
		"| big@1 `", "| teacher-model | teacher |", "| small@2 `", "| student-model | student |",
		"κ, the turns that the student executed before the teacher, by trajectories: 1 × κ = 3.", "Executed at the exported states: 3 × student, 6 × teacher.",
		"| MIT License | 2 | 1 | acme/one |", `| **not given** | 1 | 1 | acme/\<two\> |`, "3 container images, 1 of them named by a digest: a tag may name another image by now. The digests of 2 are known, from",
		"| verified | 500 tasks | 0 | 1 |", "| private | 12 entries | 0 | 0 |", "A scan for keys, tokens and passwords of known forms found none.",
		"| issues \\| of \\*us\\*, 1 | student-model `" + fixedID("student 1").String() + "` | none | **not checked** | none |",
		"| issues \\| of \\*us\\*, 2 | student-model `" + fixedID("student 2").String() + "` | adapter `cdcdcdcdcdcd…` | `" + s.weights[2][0].Fingerprints[0].Hash()[:12] + "…` | unchecked (allowed) |",
	} {
		if !strings.Contains(body, part) {
			t.Errorf("no %q in\n%s", part, body)
		}
	}
	m := readManifest(t, e.Directory)
	p := m.Provenance
	if p == nil || p.Relabel != "test" || p.Tasks != 3 || len(p.Policies) != 3 || len(p.Repositories) != 2 || p.Images.Count != 3 || p.Images.Pinned != 1 || len(p.Images.List) != 3 || p.Images.List[2] != (relabel.ProvenanceImage{Name: "acme/two:latest", Digest: "sha256:cd"}) {
		t.Errorf("the manifest has %+v", p)
	}
	w := p.Weights
	if len(w) != 2 || len(w[0].Checks) != 0 || w[1].Loaded.SHA256 != strings.Repeat("cd", 32) || len(w[1].Checks[0].Fingerprints) != 1 || !slices.Equal(w[1].Checks[0].Allowed, []relabel.WeightDoubt{relabel.WeightsUnchecked}) {
		t.Errorf("the manifest has the weights %+v", w)
	}
	raw, err := os.ReadFile(filepath.Join(e.Directory, manifestName))
	if err != nil || strings.Contains(string(raw)+body, "gpu-7") || strings.Contains(string(raw)+body, "/secret/") {
		t.Errorf("an address or a path of the weights is in the export: %v", err)
	}
	again := cardStore(t)
	x := newTestExporter(t, again)
	x.partBytes = 1 // a trajectory a part
	_, other, _ := strings.Cut(filesBelow(t, export(t, again, x).Directory)[readmeName], "## Provenance")
	if _, card, _ := strings.Cut(body, "## Provenance"); other != card {
		t.Errorf("other parts give another card: %s", difference(other, card))
	}
}

func TestTheHubsNamesOfLicences(t *testing.T) {
	for name, want := range map[string]string{"MIT": "mit", "MIT License": "mit", "Apache-2.0": "apache-2.0", "Apache License 2.0": "apache-2.0", "GPL-3.0-or-later": "gpl-3.0",
		`BSD 3-Clause "New" or "Revised" License`: "bsd-3-clause", "": "unknown", "NOASSERTION": "unknown", "Our own": "other"} {
		if got := hubLicence(name); got != want {
			t.Errorf("%q is %s, not %s", name, got, want)
		}
	}
	for licences, want := range map[string]string{"MIT,mit": "mit", "MIT,Apache-2.0": "other", ",": "unknown", "MIT,": "other", "Our own": "other"} {
		p := &relabel.ManifestProvenance{}
		for _, l := range strings.Split(licences, ",") {
			p.Repositories = append(p.Repositories, relabel.ProvenanceRepository{Licence: l, Tasks: 1})
		}
		if got := (card{relabel.Manifest{Provenance: p}}).License(); got != want {
			t.Errorf("%q: the license is %s, not %s", licences, got, want)
		}
	}
}

func TestTheLicenceOfTasksIsNotThatOfConversationsBesideThem(t *testing.T) {
	p := &relabel.ManifestProvenance{Repositories: []relabel.ProvenanceRepository{{Name: "acme/one", Licence: "MIT", Tasks: 2}}}
	c := card{relabel.Manifest{Provenance: p}}
	if got := c.License(); got != "mit" {
		t.Errorf("tasks alone have %s", got)
	}
	p.Conversations = []relabel.ProvenanceConversations{{Name: "general"}}
	if got := c.License(); got != "other" {
		t.Errorf("with conversations it is %s", got)
	}
}

func TestANameIsShownAsTextInTheHeaderToo(t *testing.T) {
	for name, want := range map[string]string{"a\nlicense: mit\n---": `"a license: mit ---"`, `"q" <b>`: `"\"q\" \u003cb\u003e"`} {
		title, err := card{relabel.Manifest{Provenance: &relabel.ManifestProvenance{Runs: []relabel.ProvenanceRun{{Name: name}}}}}.Title()
		if err != nil || title != want {
			t.Errorf("%q is %s, %v", name, title, err)
		}
	}
	title, err := card{relabel.Manifest{Provenance: &relabel.ManifestProvenance{Runs: []relabel.ProvenanceRun{{Name: "a\x7f\u0084b"}}}}}.Title()
	if err != nil || strings.ContainsFunc(title, unicode.IsControl) {
		t.Errorf("a title that YAML does not allow: %q, %v", title, err)
	}
}
