package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/store"
	"relabel/store/storetest"
)

// BenchmarkSearchTexts looks for a text that is nowhere in trajectories of 40 turns, whose
// outputs are short or long pieces of this repository's source; in turn with the same
// search made by the database, and with texts that are sent and not looked into.
func BenchmarkSearchTexts(b *testing.B) {
	for _, c := range []struct {
		name         string
		trajectories int
		output       int // bytes a turn
	}{{"outputs of 3 kB", 150, 3_000}, {"outputs of 25 kB", 60, 25_000}} {
		b.Run(c.name, func(b *testing.B) {
			s := storetest.New(b)
			seedSource(b, s, c.trajectories, c.output)
			var ours, theirs, sent time.Duration
			var bytes int64
			for b.Loop() {
				began := time.Now()
				page, err := s.SearchTexts(b.Context(), relabel.TrajectoryFilter{}, relabel.Newest, relabel.TextSearch{Text: absent, Bytes: 1 << 40})
				must(b, err)
				ours += time.Since(began)
				bytes += page.Bytes
				if page.Searched != c.trajectories || len(page.Items) > 0 {
					b.Fatalf("%d searched, %d found", page.Searched, len(page.Items))
				}
				began = time.Now()
				if n := value[int](b, s, searchInDatabase, strings.ToLower(absent)); n != 0 {
					b.Fatalf("%d found", n)
				}
				theirs += time.Since(began)
				began = time.Now()
				send(b, s)
				sent += time.Since(began)
			}
			b.ReportMetric(float64(bytes)/1e6/ours.Seconds(), "MB/s")
			b.ReportMetric(float64(bytes)/1e6/float64(b.N), "MB")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "database/ours")
			b.ReportMetric(sent.Seconds()/ours.Seconds(), "sent/ours")
		})
	}
}

// absent stands in no file in one piece.
const absent = "ImportError: " + "of a module"

// searchInDatabase is a search that the database makes alone: bytes beyond ASCII are
// escaped first, since observations may hold what no text of Postgres can.
const searchInDatabase = `SELECT (SELECT count(*) FROM observations WHERE position($1 IN lower(encode(content, 'escape') COLLATE "C")) > 0)
	+ (SELECT count(*) FROM actions WHERE position($1 IN lower(encode(raw, 'escape') COLLATE "C")) > 0)`

// send has the database send all texts.
func send(b *testing.B, s *store.Store) {
	for _, sql := range []string{"SELECT content FROM observations", "SELECT raw FROM actions"} {
		rows, err := s.Pool().Query(b.Context(), sql)
		must(b, err)
		for rows.Next() {
			_ = rows.RawValues()
		}
		must(b, rows.Err())
	}
}

// seedSource makes finished trajectories of 40 turns, half of them the student's.
func seedSource(b *testing.B, s *store.Store, trajectories, output int) {
	source := readSource(b)
	d := storetest.SeedWith(b, s, trajectories, func(d *storetest.Seeded) {
		for i := range d.Trajectories {
			d.Trajectories[i].Executors = relabel.Executors(strings.Repeat("sT", 20))
		}
	})
	at := 0
	piece := func(bytes int) string {
		if at+bytes > len(source) {
			at = at % 1000
		}
		at += bytes
		return source[at-bytes : at]
	}
	act := func(policy relabel.ID) relabel.Action {
		m := relabel.Message{Role: relabel.RoleAssistant, Content: piece(400), ToolCalls: []relabel.ToolCall{{ID: "c", Name: "execute_bash",
			Arguments: string(chat.AppendString([]byte(`{"command":`), piece(160))) + "}"}}}
		return relabel.Action{PolicyID: policy, Status: relabel.Received, Raw: chat.AppendMessage(nil, m), Message: m, FinishReason: "tool_calls", Parse: relabel.ParsedOK}
	}
	for _, tr := range d.Trajectories {
		c := storetest.Claim(b, s, tr.ID, "w")
		for t := 1; t <= 40; t++ {
			label := act(c.Teacher.ID)
			turn := storetest.Turn(c, t, &label)
			turn.Action = act(turn.Action.PolicyID)
			turn.Observations[0].Content = strings.ToValidUTF8(piece(output), "")
			must(b, s.CommitTurn(context.Background(), c.Fence, turn))
		}
	}
	exec(b, s, "VACUUM ANALYZE")
}

// readSource reads this repository's source.
func readSource(b *testing.B) string {
	names, err := filepath.Glob("../*/*.go")
	must(b, err)
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		must(b, err)
		all.Write(text)
	}
	return all.String()
}
