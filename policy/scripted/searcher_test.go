package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/codeindex"
	"relabel/codeindex/python"
	"relabel/envs/scaffold/reposearcher"
	"relabel/policy/texttools"
)

// searched is a repository that models search: paths to code.
type searched map[string]string

// shop has a class that only imports lead to, a function that the issue names, and tests.
var shop = searched{
	"shop/__init__.py":      "from shop.basket import Basket, empty_basket\nfrom .pay import (\n    Invoice,  # of a customer\n    round_total,\n)\n",
	"shop/basket.py":        "class Basket:\n    def add_item(self, item):\n        self.items.append(item)\n\n    def count(self):\n        return len(self.items)\n\n\ndef empty_basket():\n    return Basket()\n",
	"shop/pay.py":           "class Invoice:\n    def __init__(self):\n        self.lines = []\n\n    def discount_rows(self, customer):\n        def percent(row):\n            return row.discount * 100\n        return [percent(r) for r in self.rows if r.discount]\n\n\ndef round_total(total):\n    return int(total)\n",
	"shop/mail.py":          "def send(message):\n    pass\n",
	"tests/test_invoice.py": "def test_invoice_discount():\n    pass\n",
}

const shopIssue = "The total of an order is truncated instead of rounded: `round_total` gives 2 for 2.9. An invoice with a discount shows the wrong percent in the rows of a customer as well."

// Index is that of the only commit.
func (s searched) Index(context.Context, string, string) (*codeindex.Index, error) {
	var files []*codeindex.File
	for path, code := range s {
		records := python.Parser{}.Parse(path, []byte(code))
		files = append(files, &codeindex.File{Path: path, Language: codeindex.Python, Blob: path, Records: &records})
	}
	return codeindex.NewIndex(files, nil), nil
}

// Read reads a file, whose path is its blob.
func (s searched) Read(_ context.Context, _, blob string, _ int64) ([]byte, int64, error) {
	return []byte(s[blob]), int64(len(s[blob])), nil
}

// outcome is how a search ended.
type outcome struct {
	state    []relabel.Message
	finished bool
	list     []string
	calls    int
	failed   int
}

// search rolls out a model. In text the tools are in the system prompt, and the calls in the answers.
func (s searched) search(t *testing.T, model string, seed int64, inText bool) (o outcome) {
	t.Helper()
	prompts, server := reposearcher.DefaultPrompts(), NewServer(Config{})
	claim := relabel.Claim{Task: relabel.Task{ProblemStatement: shopIssue, Repo: "test/shop"}}
	claim.Run.Prompts, claim.Run.Limits.ObservationBytes = prompts, 30000
	e, err := reposearcher.Start(t.Context(), s, claim)
	if err != nil {
		t.Fatal(err)
	}
	o.state = prompts.Opening(claim.Task)
	for turn := 1; turn <= 60 && !o.finished; turn++ {
		action := ask(t, server, model, seed, o.state, prompts.Tools, inText).Canonical(turn)
		o.state = append(o.state, action)
		observations, finished, err := e.Execute(t.Context(), turn, action)
		if err != nil {
			t.Fatal(err)
		}
		o.finished = finished
		for _, seen := range observations {
			o.calls++
			if seen.Failed {
				o.failed++
			}
			m := relabel.Message{Role: relabel.RoleTool, ToolCallID: seen.CallID, Content: seen.Content}
			if seen.CallID == "" {
				m.Role = relabel.RoleUser
			}
			o.state = append(o.state, m)
		}
	}
	list, _, _ := e.Patch(t.Context())
	o.list = strings.Fields(string(list))
	return o
}

// ask asks a model for its action.
func ask(t *testing.T, server *Server, model string, seed int64, state []relabel.Message, tools []relabel.Tool, inText bool) relabel.Message {
	t.Helper()
	body := requestBody(model, seed, 0.7, state)
	if inText {
		body = requestBody(model, seed, 0.7, texttools.State(state, tools))
	} else {
		body = append(bytes.TrimSuffix(body, []byte("}")), `,"tools":`+string(chat.AppendTools(nil, tools))+"}"...)
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", bytes.NewReader(body)))
	var got struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Choices) != 1 {
		t.Fatalf("HTTP %d: %s", w.Code, w.Body)
	}
	m, err := chat.DecodeMessage(got.Choices[0].Message)
	if err != nil {
		t.Fatal(err)
	}
	if inText {
		r := texttools.Read(m.Content, tools)
		m.Content, m.ToolCalls = r.Content, r.Calls
	}
	return m
}

func TestTheTeacherFindsWhatTheIssueNamesAndWhatOnlyImportsLeadTo(t *testing.T) {
	o := shop.search(t, TeacherModel, 1, false)
	if !o.finished || o.calls > mostCalls+1 || 3*o.failed > o.calls {
		t.Errorf("%d of %d calls failed, finished: %t\n%s", o.failed, o.calls, o.finished, transcript(o.state))
	}
	best := o.list[:min(len(o.list), 3)]
	for _, gold := range []string{"shop/pay.py::round_total", "shop/pay.py::Invoice.discount_rows", "shop/pay.py::Invoice.discount_rows.percent"} {
		if !strings.Contains(strings.Join(best, " ")+" ", gold+" ") {
			t.Errorf("%s is not among the best of %v\n%s", gold, o.list, transcript(o.state))
		}
	}
	if strings.Contains(strings.Join(o.list, " "), "tests/") {
		t.Errorf("it answers with tests: %v", o.list)
	}
}

func TestASearchIsTheSameInTextAsWithNativeCalls(t *testing.T) {
	for _, model := range []string{TeacherModel, StudentPrefix + "0.5"} {
		native, inText := shop.search(t, model, 3, false), shop.search(t, model, 3, true)
		if !reflect.DeepEqual(native.list, inText.list) || native.calls != inText.calls || native.failed != inText.failed {
			t.Errorf("%s: %d calls and %v, in text %d and %v", model, native.calls, native.list, inText.calls, inText.list)
		}
	}
}

func TestASearchDependsOnTheSeedAloneAndGreedyNotOnIt(t *testing.T) {
	one, same := shop.search(t, StudentPrefix+"0.3", 7, false), shop.search(t, StudentPrefix+"0.3", 7, false)
	if !reflect.DeepEqual(one.state, same.state) {
		t.Error("the same seed gives another search")
	}
	prompts := reposearcher.DefaultPrompts()
	state := prompts.Opening(relabel.Task{ProblemStatement: shopIssue})
	greedy := func(seed string) string {
		body := []byte(`{"model":"scripted-student-0.3","temperature":0,"seed":` + seed + `,"messages":`)
		body = append(chat.AppendMessages(body, state), `,"tools":`+string(chat.AppendTools(nil, prompts.Tools))+"}"...)
		w := httptest.NewRecorder()
		NewServer(Config{}).ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", bytes.NewReader(body)))
		return w.Body.String()
	}
	if greedy("1") != greedy("2") {
		t.Error("greedy decoding depends on the seed")
	}
}

func TestMoreSkillFindsMore(t *testing.T) {
	found := func(skill string) (hits int) {
		for seed := range int64(10) {
			o := shop.search(t, StudentPrefix+skill, seed, false)
			for _, name := range o.list[:min(len(o.list), 3)] {
				if strings.HasPrefix(name, "shop/pay.py::") {
					hits++
				}
			}
		}
		return hits
	}
	none, half, full := found("0"), found("0.5"), found("1")
	if none >= half || half >= full {
		t.Errorf("hits with skill 0, 0.5 and 1: %d, %d, %d", none, half, full)
	}
}

func TestASearchOfALargeRepositoryIsBounded(t *testing.T) {
	const imports = "from shop.pay import Customer, Discount, Percent, Row, Order, Total, Invoice\n"
	large := searched{"shop/__init__.py": imports, "shop/a/__init__.py": imports, "shop/b/__init__.py": imports,
		"shop/orders.py": "def round_totals():\n    pass\ndef round_total2():\n    pass\ndef round_total3():\n    pass\n", "shop/pay.py": ""}
	for _, name := range []string{"Customer", "Discount", "Percent", "Row", "Order", "Total", "Invoice"} {
		large["shop/pay.py"] += "class " + name + ":\n    def rounded(self):\n        pass\n"
	}
	if o := large.search(t, TeacherModel, 1, false); !o.finished || o.calls != mostCalls+1 {
		t.Errorf("finished: %t after %d calls\n%s", o.finished, o.calls, transcript(o.state))
	}
}

// TestATeacherAlwaysEndsItsSearch covers searches in which no answer helps.
func TestATeacherAlwaysEndsItsSearch(t *testing.T) {
	for name, r := range map[string]searched{"no file": {}, "one file": {"a.py": ""}, "only tests": {"tests/test_a.py": "def test_a():\n    pass\n"}} {
		if o := r.search(t, TeacherModel, 1, false); !o.finished || o.calls > mostCalls+1 {
			t.Errorf("%s: finished: %t after %d calls\n%s", name, o.finished, o.calls, transcript(o.state))
		}
	}
	tools := string(chat.AppendTools(nil, reposearcher.DefaultPrompts().Tools))
	state := reposearcher.DefaultPrompts().Opening(relabel.Task{ProblemStatement: shopIssue})
	for turn := 1; turn <= mostCalls+2; turn++ { // every call fails
		a, _ := NewServer(Config{}).act(request{Model: TeacherModel, Tools: json.RawMessage(tools), state: state}, 1)
		if a.calls[0].name == toolExit {
			return
		}
		id := relabel.CallID(turn, 0)
		state = append(state, relabel.Message{Role: relabel.RoleAssistant, ToolCalls: []relabel.ToolCall{{ID: id, Name: a.calls[0].name, Arguments: a.calls[0].args}}},
			relabel.Message{Role: relabel.RoleTool, ToolCallID: id, Content: "error: nothing works"})
	}
	t.Error("the search does not end")
}
