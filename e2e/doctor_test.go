package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"relabel"
	"relabel/policy"
	"relabel/policy/scripted"
)

// TestDoctorProbesAPolicyAndItsCommandFixesIt registers a policy as the wrong kind, does
// what doctor suggests, and finds nothing left to change.
func TestDoctorProbesAPolicyAndItsCommandFixesIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{IDs: scripted.IDsSGLang})
	b := newBench(t, l, relabel.Policy{Name: "teacher", BaseURL: m.url, Model: scripted.TeacherModel, Server: relabel.ServerGeneric})
	said := func(args ...string) string { return l.must(t, append(args, "--server", b.api.Base)...) }
	table := said("doctor", "--policy", "teacher")
	for _, want := range []string{"token ids       yes", "native calls    yes", "like sglang", "relabel policy add teacher --base-url " + m.url} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	var report struct {
		policy.Report
		Command string
	}
	noError(t, json.Unmarshal([]byte(said("doctor", "--policy", "teacher", "--json")), &report))
	words := strings.Fields(report.Command)
	if len(words) < 2 || report.Found(policy.AskIDs) != policy.Yes {
		t.Fatalf("%+v", report)
	}
	said(words[1:]...)
	report.Command = ""
	noError(t, json.Unmarshal([]byte(said("doctor", "--policy", "teacher", "--json")), &report))
	if report.Command != "" || report.Server != relabel.ServerSGLang {
		t.Errorf("%s is suggested for %s", report.Command, report.Server)
	}
}

// TestDoctorCallsDockerOptionalForSearches checks a machine without an engine, with and without mirrors.
func TestDoctorCallsDockerOptionalForSearches(t *testing.T) {
	t.Parallel()
	p := place{data: openFolder(t), env: noDocker}
	said, code := p.command(t, "doctor", "--repositories", newShapes(t, 1).mirrors)
	if code != 0 || !strings.Contains(said, "! docker") || !strings.Contains(said, "has 1 mirrors") {
		t.Errorf("%d: %s", code, said)
	}
	if said, code := p.command(t, "doctor"); code == 0 || !strings.Contains(said, "✗ docker") {
		t.Errorf("without mirrors %d: %s", code, said)
	}
	if said, code := p.command(t, "doctor", "--repositories", t.TempDir()); code == 0 || !strings.Contains(said, "has no mirror") {
		t.Errorf("with an empty folder %d: %s", code, said)
	}
}
