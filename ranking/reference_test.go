package ranking

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ranked is a list with its gold.
type ranked struct {
	List []string `json:"list"`
	Gold []string `json:"gold"`
}

// referenceFigures are the figures of trec_eval; nil where it has none.
func referenceFigures(t *testing.T, cases []ranked) (all [][]float64) {
	t.Helper()
	python, err := exec.Command("../scripts/python.sh", "testdata/requirements.txt").Output()
	if err != nil {
		t.Fatalf("no Python with testdata/requirements.txt: %v", err)
	}
	var in, stderr bytes.Buffer
	for _, c := range cases {
		if err := json.NewEncoder(&in).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "testdata/reference.py")
	cmd.Stdin, cmd.Stderr = &in, &stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var of []float64
		if err := dec.Decode(&of); err != nil {
			t.Fatal(err)
		}
		all = append(all, of)
	}
	if len(all) != len(cases) {
		t.Fatalf("%d of %d cases have figures", len(all), len(cases))
	}
	return all
}

// randomEntries are n entries of the first names of the alphabet.
func randomEntries(random *rand.Rand, n, names int) []string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = string(rune('a' + random.IntN(names)))
	}
	return entries
}

func TestFiguresEqualTrecEval(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cases := make([]ranked, 100_000)
	for i := range cases {
		names := 1 + random.IntN(26)
		cases[i] = ranked{randomEntries(random, random.IntN(16), names), randomEntries(random, 1+random.IntN(10), names)}
	}
	for i, want := range referenceFigures(t, cases) {
		of, known := Of(cases[i].List, cases[i].Gold)
		if !known || want == nil {
			t.Fatalf("%v has no figures: %v, %v", cases[i], known, want)
		}
		for j, got := range of.Values() {
			if math.Abs(got-want[j]) > 1e-12 {
				t.Fatalf("%v: %v, want %v", cases[i], of, want)
			}
		}
	}
}

// trec_eval has no figures without gold, as we do, and all 0 of an empty list.
func TestEmptyListsAndEmptyGoldAreAsInTrecEval(t *testing.T) {
	cases := []ranked{{[]string{}, []string{"a"}}, {[]string{"a"}, []string{}}}
	want := referenceFigures(t, cases)
	of, known := Of(cases[0].List, cases[0].Gold)
	if !known || of != (Figures{}) || len(want[0]) != 6 || max(want[0][0], want[0][3], want[0][4], want[0][5]) != 0 {
		t.Errorf("an empty list: %v %v, want %v", of, known, want[0])
	}
	if of, known := Of(cases[1].List, cases[1].Gold); known || want[1] != nil {
		t.Errorf("no gold: %v %v, want %v", of, known, want[1])
	}
	if _, known := NDCG(cases[1].List, nil, 5); known {
		t.Error("nDCG is known without gold")
	}
}
