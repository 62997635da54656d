package trainers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hydra writes a JSON value as Hydra's command line reads it: the keys of its objects must not be in quotes.
func hydra(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	return hydraValue(v), nil
}

func hydraValue(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, hydraKey.Replace(key)+":"+hydraValue(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, hydraValue(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return `"` + strings.ReplaceAll(v, `"`, `\"`) + `"`
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// hydraKey escapes what has a meaning in keys.
var hydraKey = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ":", `\:`, "=", `\=`, ",", `\,`, " ", `\ `)

// shell quotes a word for a shell.
func shell(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
