// Package arrow writes and reads rows of token ids as Arrow IPC streams in a folder that datasets' load_from_disk
// opens.
package arrow

import (
	"encoding/json"
	"path"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"relabel/shard/outfile"
)

// Row is one sequence. All lists have one value per token.
type Row struct {
	InputIDs      []int32
	AttentionMask []int8
	Labels        []int32 // unshifted, -100 where not supervised
}

// names are the columns.
var names = [...]string{"input_ids", "attention_mask", "labels"}

// features are the columns as datasets describes them. Versions before 4 know Sequence, later ones read it as List.
var features = map[string]any{names[0]: list("int32"), names[1]: list("int8"), names[2]: list("int32")}

func list(dtype string) any {
	return map[string]any{"_type": "Sequence", "feature": map[string]string{"_type": "Value", "dtype": dtype}}
}

// schema is that of every file.
func schema() *arrow.Schema {
	info, _ := json.Marshal(map[string]any{"info": map[string]any{"features": features}}) // always has a JSON form
	metadata := arrow.NewMetadata([]string{"huggingface"}, []string{string(info)})
	return arrow.NewSchema([]arrow.Field{
		{Name: names[0], Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: names[1], Type: arrow.ListOf(arrow.PrimitiveTypes.Int8), Nullable: true},
		{Name: names[2], Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
	}, &metadata)
}

// NewWriter returns a Writer of rows to root/<view>/NNNNN.arrow.
func NewWriter(root, view string, first, step int) *outfile.Writer[Row] {
	return outfile.NewWriter(root, view, ".arrow", first, step, begin)
}

// The rows and bytes of a batch, which a writer and a reader hold in memory.
const (
	batchRows  = 1000
	batchBytes = 8 << 20
)

// encoder writes one file.
type encoder struct {
	out     *outfile.Output
	to      *ipc.Writer
	columns *array.RecordBuilder
	rows    int
	bytes   int64
}

func begin(out *outfile.Output) (outfile.Encoder[Row], error) {
	s := schema()
	return &encoder{out: out, to: ipc.NewWriter(out, ipc.WithSchema(s)), columns: array.NewRecordBuilder(memory.NewGoAllocator(), s)}, nil
}

// Fits implements outfile.Encoder. Of a batch it counts offsets, metadata and alignment too.
func (e *encoder) Fits(size int64) (bool, error) {
	return e.out.Bytes()+e.bytes+int64(12*e.rows)+4<<10+size <= outfile.MaxFile, nil
}

// Write implements outfile.Encoder.
func (e *encoder) Write(r Row, _ int64) error {
	add(e.columns.Field(0), func(v *array.Int32Builder) { v.AppendValues(r.InputIDs, nil) })
	add(e.columns.Field(1), func(v *array.Int8Builder) { v.AppendValues(r.AttentionMask, nil) })
	add(e.columns.Field(2), func(v *array.Int32Builder) { v.AppendValues(r.Labels, nil) })
	e.rows++
	e.bytes += int64(9 * len(r.InputIDs))
	if e.rows < batchRows && e.bytes < batchBytes {
		return nil
	}
	return e.flush()
}

// add appends a list whose values append adds.
func add[B array.Builder](column array.Builder, appendTo func(B)) {
	l := column.(*array.ListBuilder) // by the schema
	l.Append(true)
	appendTo(l.ValueBuilder().(B))
}

// flush writes the rows since the last batch.
func (e *encoder) flush() error {
	if e.rows == 0 {
		return nil
	}
	batch := e.columns.NewRecordBatch()
	defer batch.Release()
	e.rows, e.bytes = 0, 0
	return e.to.Write(batch)
}

// Close implements outfile.Encoder.
func (e *encoder) Close() error {
	if err := e.flush(); err != nil {
		return err
	}
	e.columns.Release()
	return e.to.Close()
}

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
