package main

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"relabel"
	"relabel/policy"
	"relabel/policy/scripted"
)

// TestDoctorProbesAPolicyAndItsCommandMendsIt registers a policy as the wrong kind, does
// what doctor says, and finds nothing left to change.
func TestDoctorProbesAPolicyAndItsCommandMendsIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{IDs: scripted.IDsSGLang})
	b := newBench(t, l, relabel.Policy{Name: "teacher", BaseURL: m.url, Model: scripted.TeacherModel, Server: relabel.ServerGeneric})
	said := func(args ...string) string { return l.must(t, append(args, "--server", b.api.base)...) }
	table := said("doctor", "--policy", "teacher")
	for _, want := range []string{"token ids       yes", "native calls    yes", "as sglang does", "relabel policy add teacher --base-url " + m.url} {
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

func TestTheCommandThatDoctorPrintsSaysAllOfAPolicy(t *testing.T) {
	p := relabel.Policy{Name: "student", BaseURL: "https://host/v1", Model: "it's a model", Server: relabel.ServerVLLM, ToolFormat: relabel.ToolsText, Secret: "KEY",
		Sampling: relabel.Sampling{Temperature: 1, TopP: 0.95, MaxTokens: 4096}, Limits: relabel.PolicyLimits{Concurrency: 3, TimeoutSeconds: 60, Retries: 1}}
	const want = `relabel policy add student --base-url https://host/v1 --model 'it'\''s a model' --server-kind vllm --tool-format text --secret KEY ` +
		`--temperature 1 --top-p 0.95 --max-tokens 4096 --concurrency 3 --timeout 60 --retries 1`
	if got := addCommand(p); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	add := reflect.TypeFor[policyAdd]()
	for i := range add.NumField() {
		f := add.Field(i)
		flag := f.Tag.Get("name")
		if flag == "" {
			flag = strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(f.Name, "$1-$2"))
		}
		_, positional := f.Tag.Lookup("arg")
		if !f.Anonymous && !positional && !strings.Contains(want, " --"+flag+" ") {
			t.Errorf("doctor's command has no --%s", flag)
		}
	}
	var c cli
	parser, err := kong.New(&c, kong.Vars{"version": "", "data": ""})
	noError(t, err)
	words := strings.Split(strings.ReplaceAll(want, `'it'\''s a model'`, "it's_a_model"), " ")[1:]
	if _, err := parser.Parse(words); err != nil || c.Policy.Add.ToolFormat != "text" || c.Policy.Add.Retries != 1 {
		t.Errorf("%v, %+v", err, c.Policy.Add)
	}
}
