package shard

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"relabel"
	"relabel/chat"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
)

// altered is what was changed in an export.
type altered struct {
	what string
	rows []string // names of the row, one of which a report must have; nil: it need not name one
}

// alterRows changes one value of a file, and writes the file again with its figures and
// hash in the manifest, so that only the deeper checks can find it. ok is false if the
// draw changes nothing, or what nobody can know (docs/shard-format.md names it).
func alterRows(t testing.TB, r *rand.Rand, dir string) (a altered, ok bool) {
	m := readManifest(t, dir)
	f := &m.Files[r.Intn(len(m.Files))]
	if f.Rows == 0 {
		return a, false
	}
	switch {
	case f.View == relabel.ViewMessages:
		a, ok = rewrite[messagesRow](t, r, dir, f, m)
	case f.View == relabel.ViewPacked:
		a, ok = rewrite[packedRow](t, r, dir, f, m)
	case f.View == relabel.ViewTree:
		a, ok = rewrite[treeRow](t, r, dir, f, m)
	case m.LossMask["linear"] == "":
		a, ok = rewrite[bareRow](t, r, dir, f, m)
	default:
		a, ok = rewrite[linearRow](t, r, dir, f, m)
	}
	if ok {
		writeJSON(t, filepath.Join(dir, manifestName), m)
	}
	return a, ok
}

// rewrite changes one value of one row of a file.
func rewrite[R any](t testing.TB, r *rand.Rand, dir string, f *relabel.ManifestFile, m relabel.Manifest) (a altered, ok bool) {
	rows := readRows[R](t, filepath.Join(dir, f.Path))
	if r.Intn(12) == 0 {
		return rearrange(t, r, dir, f, m, rows)
	}
	at := r.Intn(len(rows))
	row := reflect.ValueOf(&rows[at]).Elem()
	var columns []reflect.StructField
	for _, field := range reflect.VisibleFields(row.Type()) {
		if !field.Anonymous {
			columns = append(columns, field)
		}
	}
	column := columns[r.Intn(len(columns))]
	before := rowNameOf(row, at)
	value := row.FieldByIndex(column.Index)
	was := fmt.Sprint(value)
	if !change(r, value) || unknowable(t, dir, m, f.View, column.Name, before, was, fmt.Sprint(value)) {
		return a, false
	}
	a = altered{what: fmt.Sprintf("%s %s: %s %s", f.Path, before, column.Name, difference(was, fmt.Sprint(value))), rows: []string{before, rowNameOf(row, at)}}
	writeRows(t, dir, f, m.Recipe, rows)
	return a, true
}

// rearrange takes a row away, has one twice, or puts two of a trajectory, or two bins, into
// another order.
func rearrange[R any](t testing.TB, r *rand.Rand, dir string, f *relabel.ManifestFile, m relabel.Manifest, rows []R) (a altered, ok bool) {
	name := func(i int) string { return rowNameOf(reflect.ValueOf(&rows[i]).Elem(), i) }
	at := r.Intn(len(rows))
	switch r.Intn(3) {
	case 0:
		if len(rows) == 1 {
			return a, false
		}
		a = altered{what: f.Path + " without " + name(at)} // who is not there is named in the text of others
		rows = append(rows[:at:at], rows[at+1:]...)
	case 1:
		rows = append(rows, rows[at])
		a = altered{what: f.Path + " with " + name(at) + " twice", rows: []string{name(at), fmt.Sprintf("#%d", len(rows)-1)}}
	case 2:
		if at == 0 {
			return a, false
		}
		one, _, _ := strings.Cut(name(at), "/")
		other, _, _ := strings.Cut(name(at-1), "/")
		a = altered{what: f.Path + " with " + name(at) + " before its time", rows: []string{name(at), name(at - 1)}}
		rows[at], rows[at-1] = rows[at-1], rows[at]
		if one != other || strings.Contains(name(at)+name(at-1), "trunk") || turnOf(name(at)) > turnOf(name(at-1)) {
			return a, false
		}
	}
	f.Rows = len(rows)
	writeRows(t, dir, f, m.Recipe, rows)
	return a, true
}

// turnOf is the last number of a row's name.
func turnOf(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndex(name, "/")+1:])
	return n
}

// difference shows where two texts begin to differ.
func difference(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	from := max(0, n-20)
	return fmt.Sprintf("at %d of %d: %.60q is %.60q", n, len(a), a[from:], b[from:])
}

func rowNameOf(row reflect.Value, number int) string {
	if id := row.FieldByName("RowID"); id.IsValid() {
		return id.String()
	}
	return fmt.Sprintf("#%d", number)
}

func readRows[R any](t testing.TB, name string) []R {
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := parquetgo.NewGenericReader[R](file)
	rows := make([]R, reader.NumRows())
	for n := 0; n < len(rows); {
		k, err := reader.Read(rows[n:])
		if n += k; err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	return rows
}

// writeRows writes rows in the place of a file, and its figures into f.
func writeRows[R any](t testing.TB, dir string, f *relabel.ManifestFile, recipe relabel.Recipe, rows []R) {
	layout := parquet.Layout{View: string(f.View), LossMask: "none", Page: tokenPage}
	switch any(rows).(type) {
	case []linearRow:
		layout.LossMask, layout.Omit = "token", omitted(recipe)
	case []packedRow:
		layout.LossMask, layout.Infix, layout.Omit = "rolled-1", ".idx", omitted(recipe)
	case []treeRow:
		layout.Omit = omitted(recipe)
	}
	if _, err := fmt.Sscanf(filepath.Base(f.Path), "%d", &layout.First); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, f.Path)); err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter[R](dir, layout, "test")
	for _, row := range rows {
		var size outfile.Size
		v := reflect.ValueOf(row)
		for _, name := range []string{"Labels", "TreeLabels"} {
			if labels := v.FieldByName(name); labels.IsValid() {
				for _, label := range labels.Interface().([]int32) {
					if label != unlabelled {
						size.Supervised++
					}
				}
			}
		}
		for _, name := range []string{"InputIDs", "TreeIDs"} {
			if ids := v.FieldByName(name); ids.IsValid() {
				size.Tokens = ids.Len()
			}
		}
		if err := w.Write(row, size); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.Close()
	if err != nil || len(files) != 1 || files[0].Path != f.Path {
		t.Fatalf("%v, %v", files, err)
	}
	f.SHA256, f.Bytes, f.Tokens, f.SupervisedTokens = files[0].SHA256, files[0].Bytes, files[0].Tokens, files[0].SupervisedTokens
}

// change changes one value; false if it is the same as before.
func change(r *rand.Rand, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		old := v.String()
		if old == "" {
			return false
		}
		b := []byte(old)
		b[r.Intn(len(b))] = "abcdefghij0123456789"[r.Intn(20)]
		v.SetString(string(b))
		return string(b) != old
	case reflect.Slice:
		if text, is := v.Interface().([]byte); is {
			was := reflect.ValueOf(string(text))
			changed := reflect.New(was.Type()).Elem()
			changed.Set(was)
			defer func() { v.SetBytes([]byte(changed.String())) }()
			return change(r, changed)
		}
		return changeList(r, v)
	case reflect.Pointer:
		w := float32(r.Intn(3)) / 2
		same := !v.IsNil() && *v.Interface().(*float32) == w
		if !v.IsNil() && r.Intn(3) == 0 {
			v.SetZero()
			return true
		}
		v.Set(reflect.ValueOf(&w))
		return !same
	case reflect.Float32:
		old := v.Float()
		w := []float64{0, old / 2, -old, old + 1, math.NaN(), float64(math.Nextafter32(float32(old), 9))}[r.Intn(6)]
		v.SetFloat(w)
		return float32(w) != float32(old)
	case reflect.Struct:
		fields := v.NumField()
		if span, is := v.Interface().(spanRow); is && span.GroupID == "" {
			fields -= 2 // the file has neither group nor reward
		}
		return change(r, v.Field(r.Intn(fields)))
	}
	old := v.Int()
	v.SetInt([]int64{old + 1, old - 1, 0, 1, unlabelled, int64(r.Intn(100))}[r.Intn(6)])
	return v.Int() != old
}

// changeList changes a value of a list, their order, or how many there are.
func changeList(r *rand.Rand, v reflect.Value) bool {
	n := v.Len()
	if n == 0 {
		return false
	}
	i, j := r.Intn(n), r.Intn(n)
	switch r.Intn(8) {
	case 0:
		a, b := v.Index(i).Interface(), v.Index(j).Interface()
		v.Index(i).Set(reflect.ValueOf(b))
		v.Index(j).Set(reflect.ValueOf(a))
		return !reflect.DeepEqual(a, b)
	case 1:
		v.Set(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, n)))
		return true
	case 2:
		v.Set(reflect.Append(v, v.Index(i)))
		return true
	}
	return change(r, v.Index(i))
}

// unknowable reports whether a change is one that docs/shard-format.md says may not be
// found.
func unknowable(t testing.TB, dir string, m relabel.Manifest, view relabel.View, column, name, was, is string) bool {
	switch {
	case view == relabel.ViewLinear && column == "RowID": // a trunk's number
		trajectory, _, _ := strings.Cut(name, "/")
		after, rest, _ := strings.Cut(is, "/")
		return trajectory == after && strings.HasPrefix(rest, "trunk")
	case view != relabel.ViewMessages:
		return false
	case column == "RowID": // whose label it is, where no other view says that
		return len(m.Views) == 2 && m.LossMask["linear"] == ""
	case m.Served > 0 && slices.Contains(servedLabels(t, dir), name): // text whose ids are not its rendering
		return column == "Messages" || column == "Label"
	}
	return column == "Messages" && sameButUnseen(was, is)
}

// servedLabels names the labels with served ids.
func servedLabels(t testing.TB, dir string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dir, "linear", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		for _, row := range readRows[linearRow](t, name) {
			for _, s := range row.Spans {
				if s.IDs == "served" {
					names = append(names, fmt.Sprintf("%s/%d", s.Trajectory, s.Turn))
				}
			}
		}
	}
	return names
}

// sameButUnseen reports whether two states differ in nothing but reasoning that the
// template does not show: what comes before the last user message.
func sameButUnseen(a, b string) bool {
	var states [2][]relabel.Message
	for i, text := range []string{a, b} {
		var raw []json.RawMessage
		if json.Unmarshal([]byte(text), &raw) != nil {
			return false
		}
		last := 0
		for k, one := range raw {
			m, err := chat.DecodeMessage(one)
			if err != nil {
				return false
			}
			if m.Role == relabel.RoleUser {
				last = k
			}
			states[i] = append(states[i], m)
		}
		for k := range last {
			states[i][k].ReasoningContent = ""
		}
	}
	return reflect.DeepEqual(states[0], states[1])
}
