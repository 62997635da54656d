package reposearcher

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/codeindex"
)

// memory has one commit of one repository.
type memory struct {
	index *codeindex.Index
	texts map[string]string // by blob
}

func (m memory) Index(_ context.Context, name, commit string) (*codeindex.Index, error) {
	if name != "o/n" || commit != "c1" {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no such commit")
	}
	return m.index, nil
}

func (m memory) Read(_ context.Context, _, blob string, limit int64) ([]byte, int64, error) {
	text := m.texts[blob]
	return []byte(text[:min(int64(len(text)), limit)]), int64(len(text)), nil
}

// grid is a.py of the test repository.
const grid = "import os\nfrom b import (\n    c)\n\nclass Grid:\n    def cell(self):\n        return 1\n\n    @property\n    def cell(self):\n        return 2\n\ndef cells():\n    def inner():\n        pass\n"

func newMemory() memory {
	def := func(kind codeindex.Kind, name string, start, end int) codeindex.Definition {
		return codeindex.Definition{Kind: kind, Name: name, Span: codeindex.Span{Start: start, End: end}}
	}
	file := func(path, blob string, r codeindex.Records) *codeindex.File {
		return &codeindex.File{Path: path, Language: codeindex.Python, Blob: blob, Records: &r}
	}
	return memory{texts: map[string]string{"1": grid, "2": "print 'two'\ndef old():\n  pass\n", "3": ""},
		index: codeindex.NewIndex([]*codeindex.File{
			file("a.py", "1", codeindex.Records{Definitions: []codeindex.Definition{def(codeindex.Class, "Grid", 5, 11),
				def(codeindex.Method, "Grid.cell", 6, 7), def(codeindex.Method, "Grid.cell", 9, 11),
				def(codeindex.Function, "cells", 13, 15), def(codeindex.Function, "cells.inner", 14, 15)},
				Imports: []codeindex.Import{{Span: codeindex.Span{Start: 1, End: 1}}, {Span: codeindex.Span{Start: 2, End: 3}}}}),
			file("lib/two.py", "2", codeindex.Records{Problem: codeindex.Python2}),
			file("lib/deep/er/x.py", "3", codeindex.Records{}),
		}, nil)}
}

func start(t *testing.T, limit int) *Episode {
	t.Helper()
	claim := relabel.Claim{Task: relabel.Task{Repo: "o/n", BaseCommit: "c1"}}
	claim.Run.Limits.ObservationBytes = limit
	e, err := Start(t.Context(), newMemory(), claim)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func message(calls ...relabel.ToolCall) relabel.Message {
	return relabel.Message{Role: relabel.RoleAssistant, ToolCalls: calls}
}

func call(name, arguments string) relabel.ToolCall {
	return relabel.ToolCall{Name: name, Arguments: arguments}
}

func execute(t *testing.T, e *Episode, action relabel.Message) ([]relabel.Observation, bool) {
	t.Helper()
	o, finished, err := e.Execute(t.Context(), 1, action)
	if err != nil {
		t.Fatal(err)
	}
	return o, finished
}

func TestToolsAnswerWithCodeOrWithWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		tool, arguments, want string
		failed                bool
	}{
		{toolStructure, `{}`, "lib/\n  deep/\n    er/\n      x.py\n  two.py\na.py\n", false},
		{toolStructure, ``, "lib/\n  deep/\n    er/\n      x.py\n  two.py\na.py\n", false},
		{toolImports, `{"file":"a.py"}`, "1\timport os\n2\tfrom b import (\n3\t    c)\n", false},
		{toolImports, `{"file":"lib/deep/er/x.py"}`, "lib/deep/er/x.py has no imports.\n", false},
		{toolClass, `{"file":"./a.py","class":"Grid"}`, "a.py, lines 5-11:\n5\tclass Grid:\n6\t    def cell(self):\n7\t        return 1\n8\t\n9\t    @property\n10\t    def cell(self):\n11\t        return 2\n", false},
		{toolMethod, `{"file":"a.py","class":"Grid","method":"cell"}`, "a.py, lines 6-7:\n6\t    def cell(self):\n7\t        return 1\na.py, lines 9-11:\n9\t    @property\n10\t    def cell(self):\n11\t        return 2\n", false},
		{toolFunction, `{"file":"a.py","function":"inner"}`, "a.py, lines 14-15:\n14\t    def inner():\n15\t        pass\n", false},
		{toolFunction, `{"file":"lib/two.py","function":"old"}`, "(lib/two.py is not parsed completely: python2; these are the lines around old)\nlib/two.py, lines 1-3:\n1\tprint 'two'\n2\tdef old():\n3\t  pass\n", false},
		{toolFunction, `{"file":"lib/two.py","function":"ol"}`, `error: no function "ol" in lib/two.py`, true},
		{toolFunction, `{"file":"a.py","function":"cell"}`, `error: no function "cell" in a.py; similar: cells, Grid.cell`, true},
		{toolFunction, `{"file":"a.py","function":"Grid.cell"}`, `error: no function "Grid.cell" in a.py; it is a method: SearchClassMethod shows it`, true},
		{toolFunction, `{"file":"b.py","function":"cell"}`, `error: no source file "b.py"; similar: a.py, lib/deep/er/x.py`, true},
		{toolClass, `{"file":"a.py"}`, `error: the arguments of SearchClass cannot be used: the parameter class is missing`, true},
		{"Search", `{}`, `error: there is no tool "Search"; the tools are GetRepoStructure, GetImportOfFile, SearchClass, SearchFunction, SearchClassMethod, Exit`, true},
	} {
		o, finished := execute(t, start(t, 30_000), message(call(c.tool, c.arguments)))
		if len(o) != 1 || o[0].Content != c.want || o[0].Failed != c.failed || o[0].CallID != "call_1_0" || finished {
			t.Errorf("%s %s: %+v, want %q", c.tool, c.arguments, o, c.want)
		}
	}
}

func TestLongAnswersAreCutAndFoldedAndSaySo(t *testing.T) {
	o, _ := execute(t, start(t, 128), message(call(toolClass, `{"file":"a.py","class":"Grid"}`)))
	want := "a.py, lines 5-11:\n5\tclass Grid:\n[5 lines with 83 bytes are left out here]\n11\t        return 2\n"
	if o[0].Content != want {
		t.Errorf("%q", o[0].Content)
	}
	o, _ = execute(t, start(t, 40), message(call(toolStructure, `{}`)))
	want = "(folders below depth 1 are folded; each has its number of files)\nlib/\n  deep/ (1 file)\n  two.py\na.py\n"
	if o[0].Content != want {
		t.Errorf("%q", o[0].Content)
	}
}

// TestAnExcerptIsThatOfTheWholeText writes a text in parts.
func TestAnExcerptIsThatOfTheWholeText(t *testing.T) {
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d %s\n", i, strings.Repeat("ä", i%40))
	}
	for n := range lines {
		parts := excerpt{limit: 700}
		for _, line := range lines[:n] {
			fmt.Fprint(&parts, line)
		}
		whole := excerpt{limit: 700, text: []byte(strings.Join(lines[:n], ""))}
		if parts.String() != whole.String() || len(parts.text) > 3*700 {
			t.Fatalf("%d lines, %d bytes kept: %q, want %q", n, len(parts.text), parts.String(), whole.String())
		}
	}
}

// TestManyDefinitionsOnOneLineAreShownOnce would take 60 GB otherwise.
func TestManyDefinitionsOnOneLineAreShownOnce(t *testing.T) {
	source := strings.Repeat("import a; ", 100_000)
	var r codeindex.Records
	for range 60_000 {
		r.Definitions = append(r.Definitions, codeindex.Definition{Kind: codeindex.Function, Name: "f", Span: codeindex.Span{Start: 1, End: 1}})
		r.Imports = append(r.Imports, codeindex.Import{Span: codeindex.Span{Start: 1, End: 1}})
	}
	file := &codeindex.File{Path: "m.js", Language: codeindex.JavaScript, Blob: "1", Records: &r}
	e := start(t, 30_000)
	e.index, e.repositories = codeindex.NewIndex([]*codeindex.File{file}, nil), memory{texts: map[string]string{"1": source}}
	o, _ := execute(t, e, message(call("SearchFunction", `{"file": "m.js", "function": "f"}`), call("GetImportOfFile", `{"file": "m.js"}`)))
	for _, got := range o {
		if n := len(got.Content); got.Failed || n > 30_000 || !strings.Contains(got.Content, " bytes are left out here]") {
			t.Errorf("%d bytes: %.100q … %q", n, got.Content, got.Content[max(0, n-100):])
		}
	}
}

func TestTheAnswerIsTheTurnAfterExit(t *testing.T) {
	e := start(t, 30_000)
	if o, finished := execute(t, e, relabel.Message{Content: "```\na.py::cells\n```"}); finished || len(o) != 1 || !o[0].Failed || o[0].CallID != "" {
		t.Errorf("an answer before Exit: %+v, %v", o, finished)
	}
	if list, valid, _ := e.Patch(t.Context()); valid || list != nil {
		t.Errorf("a list without Exit: %q", list)
	}
	o, finished := execute(t, e, message(call(toolExit, ""), call(toolStructure, "{}")))
	if finished || len(o) != 2 || o[0].Failed || o[0].Content != searchEndedText || !o[1].Failed {
		t.Errorf("Exit: %+v, %v", o, finished)
	}
	if o, finished := execute(t, e, message(call(toolExit, "{}"))); finished || !o[0].Failed {
		t.Errorf("a call after Exit: %+v, %v", o, finished)
	}
	if o, finished := execute(t, e, relabel.Message{Content: "It is here:\n```\na.py::cells\na.py::x\na.py::cells\n```"}); !finished || o != nil {
		t.Errorf("the answer: %+v, %v", o, finished)
	}
	if list, valid, _ := e.Patch(t.Context()); !valid || string(list) != "a.py::cells\na.py::x\n" {
		t.Errorf("the list: %q, %v", list, valid)
	}
}

func TestAnAnswerWithoutAListEndsTheSearchAndIsNoSubmission(t *testing.T) {
	e := start(t, 30_000)
	execute(t, e, message(call(toolExit, "{}")))
	if _, finished := execute(t, e, relabel.Message{Content: "I do not know."}); !finished {
		t.Error("the rollout goes on")
	}
	if list, valid, _ := e.Patch(t.Context()); valid || len(list) != 0 {
		t.Errorf("%q, %v", list, valid)
	}
}

func TestWordsAreLegalOnlyAsTheAnswer(t *testing.T) {
	search := []relabel.Message{{Role: relabel.RoleUser, Content: searchEndedText}}
	turn := relabel.Turn{T: 1, Action: relabel.Action{Message: message(call(toolExit, "{}"))},
		Observations: []relabel.Observation{{CallID: relabel.CallID(1, 0), Content: searchEndedText}}}
	ended := relabel.AppendTurn(search, turn)
	turn.Observations[0].Content = afterExitText // it was cut by its length, for example
	notRun := relabel.AppendTurn(search, turn)
	list, words := relabel.Message{Content: "```\na.py::f\n```"}, relabel.Message{Content: "a.py::f"}
	for name, c := range map[string]struct {
		state  []relabel.Message
		action relabel.Message
		want   relabel.ParseOutcome
	}{
		"a list while searching":      {search, list, relabel.NoCall},
		"Exit":                        {search, message(call(toolExit, "")), relabel.ParsedOK},
		"after Exit nothing counts":   {search, message(call(toolExit, "{}"), call("x", "")), relabel.ParsedOK},
		"before Exit everything does": {search, message(call("x", ""), call(toolExit, "{}")), relabel.UnknownTool},
		"bad arguments":               {search, message(call(toolImports, "{")), relabel.MalformedCall},
		"the answer":                  {ended, list, relabel.ParsedOK},
		"words without a list":        {ended, words, relabel.NoCall},
		"a call instead":              {ended, message(call(toolExit, "{}")), relabel.UnknownTool},
		"Exit that was not run":       {notRun, list, relabel.NoCall},
	} {
		if got := Parse(nil, c.state, c.action); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAnswersAreScoredByFunctionsElseByFiles(t *testing.T) {
	task := relabel.Task{Repo: "o/n", BaseCommit: "c1", GoldFiles: []string{"a.py", "lib/two.py"}, GoldFunctions: []string{"a.py::cells", "a.py::Grid.cell"}}
	files := task
	files.GoldFunctions = nil
	for name, c := range map[string]struct {
		task    relabel.Task
		list    string
		depth   int
		score   float64
		hits    int
		ranking string
		reason  relabel.VerdictReason
	}{
		"half":            {task, "a.py::cells\nb.py\n", 5, 0.6131471927654584, 1, "[{a.py::cells true true} {b.py false false}]", relabel.VerdictScored},
		"beyond k":        {task, "a.py::x\na.py::cells\n", 1, 0, 1, "[{a.py::x false false} {a.py::cells true true}]", relabel.VerdictScored},
		"a file is known": {task, "a.py\n", 5, 0, 0, "[{a.py true false}]", relabel.VerdictScored},
		"nothing":         {task, "", 5, 0, 0, "[]", relabel.VerdictNoAnswer},
		"by files":        {files, "a.py::x\na.py::cells\nlib/two.py\n", 5, 1, 2, "[{a.py::x false true} {a.py::cells true true} {lib/two.py true true}]", relabel.VerdictScored},
	} {
		v, err := Grade(t.Context(), newMemory(), c.task, []byte(c.list), c.depth)
		if err != nil || math.Abs(*v.Score-c.score) > 1e-12 || *v.Hits != c.hits || fmt.Sprint(v.Ranking) != c.ranking || v.Reason != c.reason || v.Passed {
			t.Errorf("%s: %+v, score %v, %d hits, %v", name, v, *v.Score, *v.Hits, err)
		}
	}
}

func TestDefaultPromptsAreAccepted(t *testing.T) {
	p := DefaultPrompts()
	if err := CheckPrompts(p); err != nil {
		t.Error(err)
	}
	opening := p.Opening(relabel.Task{Repo: "o/n", ProblemStatement: "It breaks."})
	if text := opening[len(opening)-1].Content; !strings.Contains(text, "o/n") || !strings.Contains(text, "It breaks.") || strings.ContainsAny(text, "{}") {
		t.Errorf("%s", text)
	}
	p.Tools = slices.DeleteFunc(p.Tools, func(t relabel.Tool) bool { return t.Name == toolExit })
	if relabel.CodeOf(CheckPrompts(p)) != relabel.CodeInvalid {
		t.Error("texts without Exit are accepted")
	}
}

func TestAMissingCommitIsAnError(t *testing.T) {
	if _, err := Start(t.Context(), newMemory(), relabel.Claim{Task: relabel.Task{Repo: "o/n", BaseCommit: "c2"}}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("%v", err)
	}
}

func TestPartsOfAVeryLongLineAreShown(t *testing.T) {
	text := "a.js, lines 1-1:\n1\t" + strings.Repeat("x", 1000) + "END\n"
	got := cutMiddle(text, 200)
	if !strings.HasPrefix(got, "a.js, lines 1-1:\n1\txxxxx") || !strings.HasSuffix(got, "xEND\n") || !strings.Contains(got, "bytes are left out here") || len(got) > 200 {
		t.Errorf("%q", got)
	}
}
