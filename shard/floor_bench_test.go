package shard

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
	"relabel/shard/render"
)

// BenchmarkFloor compares the processor time of an export of 1,000 states in all views with a floor: each text is
// tokenised once, and the Parquet library writes the same rows from memory.
func BenchmarkFloor(b *testing.B) {
	s := newFixedStore()
	for i := range 25 {
		tr := longTrajectory(i)
		tr.Task.ProblemStatement, tr.Turns = "It fails.", tr.Turns[:40]
		s.list = append(s.list, tr)
	}
	form := relabel.ExportForm{Views: relabel.Views, Tokenizer: tokenizerFolder(b, "qwen3")}.WithDefaults()
	student, err := render.Open(form)
	if err != nil {
		b.Fatal(err)
	}
	var whole, tokenising, writing time.Duration
	var states, tokens int
	for b.Loop() {
		x := newTestExporter(b, s)
		s.newExport("floor", relabel.ExportSelection{Aggregated: true})
		s.export.Form = form
		var e relabel.Export
		whole += processorTime(b, func() { e = export(b, s, x) })
		states += e.Rows
		tokenising += processorTime(b, func() { tokeniseOnce(student, s.list) })
		for _, f := range e.Files {
			tokens += f.Tokens
			writing += writeAgain(b, e.Directory, f)
		}
	}
	perState := func(d time.Duration) float64 { return 1000 * d.Seconds() / float64(states) }
	b.ReportMetric(perState(whole), "ms-processor/state")
	b.ReportMetric(perState(tokenising), "ms-tokenise/state")
	b.ReportMetric(perState(writing), "ms-parquet/state")
	b.ReportMetric(float64(whole.Nanoseconds())/float64(tokens), "ns-processor/token")
	b.ReportMetric(whole.Seconds()/(tokenising+writing).Seconds(), "of-floor")
}

// processorTime returns the processor time that the process takes while it does something.
func processorTime(b *testing.B, do func()) time.Duration {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	do()
	return used() - began
}

func tokeniseOnce(student *render.Student, list []relabel.ExportTrajectory) {
	var ids []int32
	for _, tr := range list {
		for _, turn := range tr.Turns {
			for _, text := range []string{string(turn.Action.Raw), string(turn.Label.Raw)} {
				ids = student.Tokens.Encode(ids[:0], text)
			}
			for _, o := range turn.Observations {
				ids = student.Tokens.Encode(ids[:0], o.Content)
			}
		}
	}
}

// writeAgain reads the rows of a file of an export and returns the processor time of writing them.
func writeAgain(b *testing.B, dir string, f relabel.ExportFile) time.Duration {
	b.Helper()
	name := filepath.Join(dir, f.Path)
	omit := omitted(relabel.DAgger)
	switch view := path.Dir(f.Path); view {
	case messagesView:
		return rewriteRows[messagesRow](b, name, parquet.Layout{View: view})
	case linearView:
		return rewriteRows[linearRow](b, name, parquet.Layout{View: view, Page: tokenPage, Omit: omit})
	case packedView:
		return rewriteRows[packedRow](b, name, parquet.Layout{View: view, Page: tokenPage, Omit: omit})
	case treeView:
		return rewriteRows[treeRow](b, name, parquet.Layout{View: view, Page: tokenPage, Omit: omit})
	}
	return 0 // not a file of a view
}

func rewriteRows[R any](b *testing.B, name string, layout parquet.Layout) time.Duration {
	b.Helper()
	rows, err := parquetgo.ReadFile[R](name)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), fmt.Sprint(len(rows)))
	defer os.RemoveAll(dir)
	return processorTime(b, func() {
		w := parquet.NewWriter[R](dir, layout, "test")
		for row := range slices.Values(rows) {
			if err := w.Write(row, outfile.Size{Bytes: 1 << 20}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	})
}
