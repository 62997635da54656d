package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/shard"
	"relabel/shard/shardtest"
	"relabel/store"
)

// The trajectories of an export: some 59,000 tokens each as a tree, and 1,000 labelled states in 25.
const (
	exportTurns = 40
	exportBeta  = 0.3
	exportUnit  = 1000 / exportTurns
)

// exportVariable adds an export of that many times the usual length to those of 1 and 10 times.
const exportVariable = "RELABEL_BENCH_EXPORT"

// BenchmarkExport builds exports of 1,000 and of 10,000 labelled states, with all views in
// the tokens of Qwen3, in a process of their own out of a database, and checks each in
// another. Its baseline is the shortest: memory must not grow, nor speed fall.
func BenchmarkExport(b *testing.B) {
	sizes := []int{1, 10}
	if more, err := strconv.Atoi(os.Getenv(exportVariable)); err == nil {
		sizes = append(sizes, more)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("%d states", 1000*n), func(b *testing.B) {
			for b.Loop() {
				measureExport(b, n*exportUnit)
			}
		})
	}
}

// measureExport builds and checks the export of a number of trajectories.
func measureExport(b *testing.B, trajectories int) {
	b.Helper()
	url := databaseURL(b)
	s := openStore(b, url)
	r := begin(b, s, roundOf{trajectories: trajectories, turns: exportTurns, beta: exportBeta})
	seed(b, url, trajectories)
	root := b.TempDir()
	p := start(b, orders{Database: url, Name: fmt.Sprint("export", trajectories), Exports: root})
	var ready string
	p.hear(b, &ready)
	e := export(b, s, r, root, p)
	took := e.EndedAt.Sub(e.CreatedAt).Seconds()
	var tokens, bytes float64
	of := map[string]float64{} // tokens of a view
	for _, f := range e.Files {
		tokens, bytes = tokens+float64(f.Tokens), bytes+float64(f.Bytes)
		of[path.Dir(f.Path)] += float64(f.Tokens)
	}
	b.ReportMetric(took, "s")
	b.ReportMetric(float64(e.Rows)/took, "states/s")
	b.ReportMetric(tokens/took/1e6, "Mtokens/s")
	b.ReportMetric(tokens/1e6, "Mtokens")
	b.ReportMetric(bytes/1e6, "MB")
	b.ReportMetric(of["linear"]/of["tree"], "linear/tree-tokens")
	b.ReportMetric(1000*processor(p.cmd.Process.Pid, false)/float64(e.Rows), "ms-processor/state")
	b.ReportMetric(statusKiB(b, p.cmd.Process.Pid, "VmHWM")/1024, "MiB-peak")
	must(b, p.stop())

	p = start(b, orders{Name: fmt.Sprint("check", trajectories), Check: e.Directory})
	var c checked
	p.hear(b, &c)
	if c.Problems != "" {
		b.Fatal(c.Problems)
	}
	b.ReportMetric(c.Took, "s-check")
	b.ReportMetric(tokens/c.Took/1e6, "Mtokens-checked/s")
	b.ReportMetric(1000*processor(p.cmd.Process.Pid, false)/float64(e.Rows), "ms-processor-check/state")
	b.ReportMetric(statusKiB(b, p.cmd.Process.Pid, "VmHWM")/1024, "MiB-peak-check")
	must(b, p.stop())
}

// export has a process build all views of a round, and waits for them.
func export(b *testing.B, s *store.Store, r round, root string, builder *process) relabel.Export {
	b.Helper()
	ctx := context.Background()
	folder, err := shard.FolderID(root)
	must(b, err)
	run := one[relabel.ID](b, s, "SELECT run_id FROM iterations WHERE id = $1", r.id)
	x := shard.NewExporter(shard.Config{Store: s, Tokenizers: shardtest.Tokenizers(b), Root: root, FolderID: folder})
	e, err := x.Prepare(context.Background(), relabel.DAgger, relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: run, Submitted: true},
		Form: relabel.ExportForm{Views: relabel.Views, Tokenizer: tokenizer(b)}})
	must(b, err)
	must(b, s.CreateExport(ctx, e))
	gone := builder.gone()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-gone:
			b.Fatalf("the process that builds the export has ended: %v", err)
		case <-tick.C:
		}
		e, err = s.FindExport(ctx, e.ID)
		must(b, err)
		switch e.State {
		case relabel.ExportDone:
			return e
		case relabel.ExportFailed:
			b.Fatal(e.Failure)
		}
	}
}

// tokenizer is the folder of Qwen3's.
func tokenizer(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("../../scripts/tokenizers.sh").Output()
	must(b, err)
	return filepath.Join(strings.TrimSpace(string(out)), "qwen3")
}

// seed rolls the trajectories that are queued out without models, many at once, as they
// would be in the end. What is written here need not be on disk at once.
func seed(b *testing.B, url string, trajectories int) {
	b.Helper()
	s, err := store.Open(context.Background(), url+"&synchronous_commit=off")
	must(b, err)
	defer s.Close()
	var claim sync.Mutex
	work, ctx := errgroup.WithContext(context.Background())
	work.SetLimit(8)
	for i := range trajectories {
		work.Go(func() error {
			claim.Lock()
			c, err := s.ClaimNext(ctx, "seed", relabel.Repair, time.Hour)
			claim.Unlock()
			if err != nil {
				return err
			}
			return rollOut(ctx, s, c, rand.New(rand.NewPCG(11, uint64(i))))
		})
	}
	must(b, work.Wait())
	_, err = s.Pool().Exec(context.Background(), "VACUUM ANALYZE")
	must(b, err)
}

// rollOut stores the turns of a trajectory and its end.
func rollOut(ctx context.Context, s *store.Store, c relabel.Claim, r *rand.Rand) error {
	for t := 1; t <= len(c.Trajectory.Executors); t++ {
		if err := s.CommitTurn(ctx, c.Fence, makeTurn(c, t, r)); err != nil {
			return err
		}
	}
	if err := s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff"), Submitted: true}); err != nil {
		return err
	}
	if err := s.BeginVerifying(ctx, c.Fence); err != nil {
		return err
	}
	return s.Finish(ctx, c.Fence, relabel.Verdict{Passed: true, Reason: "tests"})
}
