package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel/shard"
	"relabel/shard/tokenizers"
	"relabel/shard/verify"
	"relabel/store"
)

// buildExports takes exports from the queue as `relabel worker` does, until standard input
// ends.
func buildExports(ctx context.Context, o orders) error {
	stop, err := profiling(o)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, o.Database)
	if err != nil {
		return err
	}
	defer s.Close()
	folder, err := shard.FolderID(o.Exports)
	if err != nil {
		return err
	}
	opener, err := tokenizers.NewOpener(s, "/")
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, shard.NewWorker(shard.NewExporter(shard.Config{Store: s, Tokenizers: opener, Root: o.Exports, FolderID: folder, Machine: "bench", Log: zerolog.Nop(), Version: "bench"})))
	client, err := take(ctx, s, o, workers, store.ExportQueue(folder), 1)
	if err != nil {
		return err
	}
	fmt.Println(`"ready"`)
	_, _ = io.Copy(io.Discard, os.Stdin)
	ending, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return errors.Join(client.StopAndCancel(ending), stop())
}

// checked is what a check of an export says.
type checked struct {
	Took     float64 // seconds
	Problems string  // "" for none
}

// checkExport checks an export as `relabel export verify` does, prints a checked, and
// waits for the end of standard input.
func checkExport(ctx context.Context, o orders) error {
	stop, err := profiling(o)
	if err != nil {
		return err
	}
	m, err := verify.ReadManifest(o.Check)
	if err != nil {
		return err
	}
	began := time.Now()
	student, err := verify.OpenStudent(m, "", "")
	if err != nil {
		return err
	}
	report, err := verify.Check(ctx, o.Check, verify.Options{Student: student})
	if err != nil {
		return err
	}
	c := checked{Took: time.Since(began).Seconds()}
	if !report.Sound() {
		c.Problems = report.Figure()
	}
	if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return stop()
}
