package atif_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/atif"
	"relabel/chat"
)

// checked is what Harbor says of a document.
type checked struct {
	Errors []string        `json:"errors"`
	Texts  [][]rune        `json:"texts"`
	Again  json.RawMessage `json:"again"`
}

// byHarbor checks documents with the validator in the package harbor.
func byHarbor(t *testing.T, documents [][]byte) []checked {
	t.Helper()
	python, err := exec.Command("../scripts/python.sh", "testdata/requirements.txt").Output()
	if err != nil {
		t.Fatalf("no Python with Harbor's models: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "testdata/validate.py")
	cmd.Stdin = bytes.NewReader(bytes.Join(documents, []byte("\n")))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var all []checked
	for lines := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all
		}
		var c checked
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
}

// examples are drawn records without a number that no float has: Python writes it as Infinity, which is not JSON.
func examples(n int) []atif.Record {
	g := rapid.Custom(record).Filter(func(r atif.Record) bool { return !strings.Contains(asText(r), "1e400") })
	all := make([]atif.Record, n)
	for i := range all {
		all[i] = g.Example(i)
	}
	return all
}

func asText(r atif.Record) string {
	var all bytes.Buffer
	for _, turn := range r.Turns {
		for _, c := range turn.Action.Message.ToolCalls {
			all.WriteString(c.Arguments)
		}
	}
	return all.String()
}

// Harbor's validator accepts our documents, its models find the same texts, and a document that they wrote again
// is read like ours.
func TestHarborReadsAndRewritesOurDocuments(t *testing.T) {
	records := examples(60)
	var documents [][]byte
	for _, r := range records {
		documents = append(documents, written(t, r))
	}
	answers := byHarbor(t, documents)
	if len(answers) != len(records) {
		t.Fatalf("%d answers to %d documents", len(answers), len(records))
	}
	for i, answer := range answers {
		if len(answer.Errors) > 0 {
			t.Errorf("Harbor refuses %s\n%s", documents[i], strings.Join(answer.Errors, "\n"))
			continue
		}
		if want := textsOf(records[i]); !slices.EqualFunc(answer.Texts, want, slices.Equal[[]rune]) {
			t.Errorf("Harbor reads %v, not %v", answer.Texts, want)
		}
		back, err := atif.Read(answer.Again)
		if err != nil {
			t.Errorf("%v in Harbor's %s", err, answer.Again)
			continue
		}
		if again := written(t, back); !bytes.Equal(again, documents[i]) {
			t.Errorf("after Harbor wrote it:\n%s\n%s", again, documents[i])
		}
	}
}

// textsOf lists messages, reasoning and results in the order of testdata/validate.py.
func textsOf(r atif.Record) (all [][]rune) {
	add := func(s string) { all = append(all, pointsOf(s)) }
	for _, m := range r.Opening {
		add(m.Content)
		add("")
	}
	for _, turn := range r.Turns {
		add(turn.Action.Message.Content)
		add(turn.Action.Message.ReasoningContent)
		for _, o := range turn.Observations {
			add(o.Content)
		}
	}
	return all
}

// pointsOf lists the code points that a reader of JSON gets of a text: unpaired surrogates too.
func pointsOf(s string) []rune {
	points := []rune{}
	shown := chat.DecodeString(chat.AppendString(nil, s))
	for len(shown) > 0 {
		if len(shown) >= 3 && shown[0] == 0xED && shown[1] >= 0xA0 {
			points = append(points, rune(shown[0]&0x0F)<<12|rune(shown[1]&0x3F)<<6|rune(shown[2]&0x3F))
			shown = shown[3:]
			continue
		}
		r := []rune(shown)[0]
		points = append(points, r)
		shown = shown[len(string(r)):]
	}
	return points
}

// Harbor's validator refuses what we refuse, so that the accepted documents above say something.
func TestHarborRefusesABrokenDocument(t *testing.T) {
	r := ownRecord()
	r.Turns = []relabel.Turn{{T: 1, Action: relabel.Action{Status: relabel.Received}}}
	broken := bytes.Replace(written(t, r), []byte(`"step_id":2`), []byte(`"step_id":7`), 1)
	python, err := exec.Command("../scripts/python.sh", "testdata/requirements.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "testdata/validate.py")
	cmd.Stdin = bytes.NewReader(broken)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "steps[1].step_id") {
		t.Errorf("Harbor accepts a gap in step_id: %s", out)
	}
	if _, err := atif.Read(broken); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("read: %v", err)
	}
}
