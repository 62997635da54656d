package tokenizer

import (
	"runtime"
	"strings"
	"testing"

	"relabel"
)

// hostileTokenizers are files that would take far more memory than they have bytes.
func hostileTokenizers() map[string]string {
	model := `{"type":"BPE","vocab":{"a":0},"merges":[]}`
	repeat := func(entry string, n int) string { return strings.TrimSuffix(strings.Repeat(entry+",", n), ",") }
	double := `{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaa"}`
	return map[string]string{
		"millions of merges":       `{"model":{"type":"BPE","vocab":{"":0},"merges":[` + repeat(`["",""]`, 4_000_000) + `]}}`,
		"millions of tokens":       `{"model":{"type":"BPE","vocab":{` + repeat(`"":0`, 8_000_000) + `},"merges":[]}}`,
		"millions of options":      `{` + repeat(`"":0`, 8_000_000) + `}`,
		"millions of added tokens": `{"model":` + model + `,"added_tokens":[` + repeat(`0`, 20_000_000) + `]}`,
		"deep":                     `{"normalizer":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}`,
		"a large component": `{"normalizer":` + strings.Repeat(`{"type":"Sequence","normalizers":[`, 10) + `"` + strings.Repeat("x", 32<<20) + `"` +
			strings.Repeat("]}", 10) + `,"model":` + model + `}`,
		"replacements that double": `{"model":` + model + `,"normalizer":{"type":"Sequence","normalizers":[` + repeat(double, 30) +
			`]},"added_tokens":[{"id":1,"content":"a","single_word":false,"lstrip":false,"rstrip":false,"normalized":true,"special":false}]}`,
		"a long pattern": `{"model":` + model + `,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"` + strings.Repeat("(", 500_000) + `"},"behavior":"Isolated","invert":false}}`,
	}
}

func TestHostileTokenizersAreRefusedInBoundedMemory(t *testing.T) {
	const most = 512 << 20
	for name, text := range hostileTokenizers() {
		data := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(data)
		runtime.ReadMemStats(&after)
		if relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s: %.200v", name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
			t.Errorf("%s: %d MB were allocated for %d MB", name, allocated>>20, len(data)>>20)
		}
	}
}

func TestEntriesAndDepthAreThoseOutsideOfStrings(t *testing.T) {
	for text, want := range map[string]int{
		`[]`: 1, `[1]`: 1, `[1,2,3]`: 3, `["a,b","\",[","\\",{"c":[1,2]}]`: 4, `{"a":{"b":1,"c":2},"d":"{,"}`: 2, `[1,2,3,4,5,6,7,8,9]`: 6, `["cut\`: 1, `]],,`: 1,
	} {
		if got := entriesOf([]byte(text), 5); got != want {
			t.Errorf("%s: %d entries, not %d", text, got, want)
		}
	}
	for depth, refused := range map[int]bool{mostDepth: false, mostDepth + 1: true} {
		nested := node{raw: []byte(strings.Repeat(`{"[[{\"":[`, depth/2) + strings.Repeat("[", depth%2))}
		var err error
		func() {
			defer rescue(&err)
			nested.checkDepth()
		}()
		if (err != nil) != refused {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}
