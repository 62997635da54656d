package ranking

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseReadsTheListOfAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   []string
	}{
		"words around":     {"These:\n```\na.py::f\nb.py\n```\nDone.", []string{"a.py::f", "b.py"}},
		"a language":       {"```text\na.py::C.g\n```", []string{"a.py::C.g"}},
		"no fence":         {"a.py::f\nb.py::g", nil},
		"an inline fence":  {"```a.py::f```", nil},
		"empty":            {"", nil},
		"an empty list":    {"```\n\n  \n```", nil},
		"the last list":    {"```\na.py::f\n```\nBetter:\n```\nb.py::g\n```", []string{"b.py::g"}},
		"the last is none": {"```\na.py::f\n```\n```\n```", []string{"a.py::f"}},
		"unclosed":         {"```\na.py::f\nb.py::g", []string{"a.py::f", "b.py::g"}},
		"unclosed before":  {"```\na.py::f\n```text\nb.py::g\n```\nDone.", []string{"b.py::g"}},
		"longer fences":    {"````\na.py::f\n````", []string{"a.py::f"}},
		"indented":         {"  ```\n  a.py::f\n  ```", []string{"a.py::f"}},
		"CRLF":             {"```\r\na.py::f\r\n\r\nb.py::g\r\n```\r\n", []string{"a.py::f", "b.py::g"}},
		"numbers":          {"```\n1. a.py::f\n2) b.py::g\n10. c.py::h\n```", []string{"a.py::f", "b.py::g", "c.py::h"}},
		"bullets":          {"```\n- a.py::f\n* b.py::g\n• `c.py::h`\n```", []string{"a.py::f", "b.py::g", "c.py::h"}},
		"./":               {"```\n./a.py::f\n- `./b.py`\n```", []string{"a.py::f", "b.py"}},
		"separator":        {"```\na.py :: C.g\n```", []string{"a.py::C.g"}},
		"spaces in paths":  {"```\nmy file.py::f\n```", []string{"my file.py::f"}},
		"what is no entry": {"```\nthe function f\n```", []string{"the function f"}},
		"duplicates":       {"```\na.py\na.py\n```", []string{"a.py", "a.py"}},
		"a number as name": {"```\n1.py::f\n-x.py\n```", []string{"1.py::f", "-x.py"}},
	} {
		got, more := Parse(c.answer)
		if !slices.Equal(got, c.want) || more != 0 {
			t.Errorf("%s: %q and %d more, want %q", name, got, more, c.want)
		}
	}
}

func TestParseCountsWhatIsTooMuch(t *testing.T) {
	var answer strings.Builder
	answer.WriteString("```\n")
	for i := range MaxEntries + 3 {
		fmt.Fprintf(&answer, "a%d.py\n", i)
	}
	list, more := Parse(answer.String())
	if len(list) != MaxEntries || more != 3 || list[MaxEntries-1] != "a999.py" {
		t.Errorf("%d entries and %d more", len(list), more)
	}
}

func TestAListInAFenceIsReadBack(t *testing.T) {
	entry := rapid.StringMatching(`[a-z]{1,3}/[a-z]{1,3}\.py(::[A-Z]\.[a-z]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(entry, 1, 20).Draw(t, "list")
		before, after := rapid.StringMatching(`[a-z \n]*`).Draw(t, "before"), rapid.StringMatching(`[a-z \n]*`).Draw(t, "after")
		end := rapid.SampledFrom([]string{"\n", "\r\n", "  \n", "\n\n"}).Draw(t, "end")
		mark := rapid.SampledFrom([]string{"", "- ", "3. ", "./"}).Draw(t, "mark")
		answer := before + "\n```" + end + mark + strings.Join(list, end+mark) + end + "```\n" + after
		if got, more := Parse(answer); more != 0 || !slices.Equal(got, list) {
			t.Fatalf("%q: %q, want %q", answer, got, list)
		}
	})
}

// TestAMillionMarksTakeNoTime would take hours if each mark cost a copy of the line.
func TestAMillionMarksTakeNoTime(t *testing.T) {
	for _, mark := range []string{"- ", "1. ", "./", "` ", "-               "} {
		if got := Entry(strings.Repeat(mark, 1_000_000) + "a.py::f"); got != "a.py::f" {
			t.Errorf("%.60q is left", got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, answer := range []string{"```\n1. a.py::f\n```", "```\n- `./b.py :: C.g`\r\n````x\n``", "- \x60\x60 :: \x60", "```\n\xff\n"} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		list, more := Parse(answer)
		if len(list) > MaxEntries || more > 0 && len(list) < MaxEntries {
			t.Fatalf("%d entries and %d more", len(list), more)
		}
		for _, entry := range list {
			if entry == "" || Entry(entry) != entry {
				t.Fatalf("%q becomes %q", entry, Entry(entry))
			}
		}
		files := Files(list)
		if len(files) > len(list) || !slices.Equal(files, Deduplicate(files)) {
			t.Fatalf("files %q", files)
		}
	})
}
