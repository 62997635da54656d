// Package arrow writes and reads rows of token ids as Arrow IPC streams in a folder that datasets' load_from_disk
// opens. A stream is the message with the schema, messages with batches of rows, and an end. Arrow describes messages
// in FlatBuffers (Message.fbs).
package arrow

import (
	_ "embed"
	"encoding/json"
	"path"
)

// Row is one sequence. All lists have one value per token.
type Row struct {
	InputIDs      []int32
	AttentionMask []int8
	Labels        []int32 // unshifted, -100 where not supervised
}

// The columns: their names, and the bytes of a value.
var (
	names  = [...]string{"input_ids", "attention_mask", "labels"}
	widths = [len(names)]int{4, 1, 4}
)

// features are the columns as datasets describes them. Versions before 4 know Sequence, later ones read it as List.
var features = map[string]any{names[0]: list("int32"), names[1]: list("int8"), names[2]: list("int32")}

func list(dtype string) any {
	return map[string]any{"_type": "Sequence", "feature": map[string]string{"_type": "Value", "dtype": dtype}}
}

// opening is how every file begins: the message with the schema, which has the features as metadata. Its bytes are
// those of all versions, so that the same rows give the same file.
//
//go:embed schema.bin
var opening []byte

// ending is how every file ends: a message without metadata.
var ending = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// A batch has for each column a node of the lists and one of their values, and for each of these nodes two buffers:
// which are null, then offsets or values.
const (
	batchNodes   = 6
	batchBuffers = 12
)

// node is a FieldNode of Arrow.
type node struct{ Length, Nulls int64 }

// buffer is a Buffer of Arrow: its place in the body of a message, in bytes.
type buffer struct{ Offset, Length int64 }

// Folder returns the contents of the files beside the rows that make a view's folder one of save_to_disk, by name.
// files are the paths of all files of rows in order; the fingerprint names their content.
func Folder(files []string, fingerprint string) map[string]string {
	type file struct {
		Filename string `json:"filename"`
	}
	state := struct {
		Files         []file         `json:"_data_files"`
		Fingerprint   string         `json:"_fingerprint"`
		FormatColumns []string       `json:"_format_columns"`
		FormatKwargs  map[string]any `json:"_format_kwargs"`
		FormatType    *string        `json:"_format_type"`
		OutputAll     bool           `json:"_output_all_columns"`
		Split         string         `json:"_split"`
	}{Files: []file{}, Fingerprint: fingerprint, FormatKwargs: map[string]any{}, Split: "train"}
	for _, name := range files {
		state.Files = append(state.Files, file{path.Base(name)})
	}
	return map[string]string{"state.json": indented(state), "dataset_info.json": indented(map[string]any{"features": features})}
}

// indented encodes a value that always has a JSON form.
func indented(v any) string {
	raw, _ := json.MarshalIndent(v, "", "  ")
	return string(raw) + "\n"
}
