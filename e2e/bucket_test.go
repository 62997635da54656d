package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/shard/buckettest"
	"relabel/store"
	"relabel/store/storetest"
)

// bucketPlace is a place whose database holds a finished run of that many parts.
func bucketPlace(t *testing.T, parts int) (place, storetest.Seeded) {
	t.Helper()
	p := place{data: t.TempDir(), database: storetest.Migrated(t), env: buckettest.Environ()}
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	d := storetest.Seed(t, s, parts)
	for _, tr := range d.Trajectories {
		rollLong(t, s, d, tr.ID)
	}
	return p, d
}

// rollLong takes a trajectory through two turns to done. Its observation is long enough
// that the next trajectory begins another part.
func rollLong(t *testing.T, s *store.Store, d storetest.Seeded, id relabel.ID) {
	t.Helper()
	ctx := bounded(t)
	claim := storetest.Claim(t, s, id, "w")
	for n := 1; n <= 2; n++ {
		message := relabel.Message{Role: relabel.RoleAssistant, Content: fmt.Sprint("I end ", n), ToolCalls: []relabel.ToolCall{{ID: "x", Name: "finish", Arguments: "{}"}}}
		label := relabel.Action{PolicyID: d.Teacher.ID, Status: relabel.Received, Raw: chat.EncodeMessage(message), Message: message, FinishReason: "tool_calls", Parse: relabel.ParsedOK}
		turn := storetest.Turn(claim, n, &label)
		turn.Observations[0].Content = strings.Repeat(fmt.Sprintf("line %s of it\n", id), 200_000) // 10 MB
		noError(t, s.CommitTurn(ctx, claim.Fence, turn))
	}
	noError(t, s.EndRollout(ctx, claim.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: true}))
	noError(t, s.BeginVerifying(ctx, claim.Fence))
	noError(t, s.Finish(ctx, claim.Fence, relabel.Verdict{Passed: true, Reason: "tests"}))
}

// filesOf maps each file below a folder to its hash.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	noError(t, filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(folder, name)
		sum := sha256.Sum256(b)
		all[rel] = hex.EncodeToString(sum[:])
		return err
	}))
	return all
}

// TestAnExportWhoseWorkerIsKilledHasTheSameBytes kills a process while it builds an
// export in a bucket, and has another finish it.
func TestAnExportWhoseWorkerIsKilledHasTheSameBytes(t *testing.T) {
	t.Parallel()
	server := buckettest.StartS3(t, "shards")
	p, d := bucketPlace(t, 5)
	p.env = append(p.env, "RELABEL_DESTINATION_ENDPOINT="+server.Endpoint())
	said, code := p.command(t, "export", "start", d.Run.Name, "--destination", server.URL("shards/peace"))
	if code != 0 {
		t.Fatal(said)
	}
	goOn := holdParts(t, p)
	killed := p.start(t, "export", "start", d.Run.Name, "--destination", server.URL("shards/killed"))
	s := storetest.Open(t, p.database)
	var e relabel.Export
	eventually(t, "a part of the export is there", func() bool {
		all, _, err := s.ListExports(context.Background(), relabel.ExportFilter{}, relabel.Page{})
		noError(t, err)
		e = all[0]
		return len(all) == 2 && e.PartsDone > 0
	})
	noError(t, killed.cmd.Process.Signal(syscall.SIGKILL))
	<-killed.done
	goOn()
	_, api := p.serve(t)
	eventually(t, "another process ends the export", func() bool {
		noError(t, api.get(t.Context(), "/v1/exports/"+e.ID.String(), &e))
		return e.State == relabel.ExportDone
	})
	entries, err := os.ReadDir(filepath.Join(server.Folder, "shards/peace"))
	noError(t, err)
	peace := filesOf(t, filepath.Join(server.Folder, "shards/peace", entries[0].Name()))
	got := filesOf(t, filepath.Join(server.Folder, "shards/killed", e.ID.String()))
	if e.Parts < 3 || len(peace) < 5 || fmt.Sprint(got) != fmt.Sprint(peace) {
		t.Errorf("%d parts; %v, in peace %v", e.Parts, got, peace)
	}
	c := bucketFiles{t, api, e}
	c.areServed(got)
	c.areDeleted(p, server)
}

// holdParts holds each part of an export but the first before it is said to be done, until
// goOn is called.
func holdParts(t *testing.T, p place) (goOn func()) {
	t.Helper()
	conn := p.connect(t)
	lock := rand.Int64()
	for _, sql := range []string{
		fmt.Sprintf("SELECT pg_advisory_lock(%d)", lock),
		fmt.Sprintf("CREATE FUNCTION hold_part() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(%d); RETURN NEW; END $$", lock),
		"CREATE TRIGGER hold_part BEFORE UPDATE OF done ON export_parts FOR EACH ROW WHEN (NEW.done AND NEW.number > 0) EXECUTE FUNCTION hold_part()",
	} {
		_, err := conn.Exec(bounded(t), sql)
		noError(t, err)
	}
	return func() { noError(t, conn.Close(bounded(t))) }
}

// bucketFiles is an export in a bucket, as a server gives it.
type bucketFiles struct {
	t   *testing.T
	api *session
	e   relabel.Export
}

// areServed reads each file in two ranges.
func (b bucketFiles) areServed(want map[string]string) {
	b.t.Helper()
	for name, hash := range want {
		whole := sha256.New()
		for _, part := range []string{"bytes=0-9", "bytes=10-"} {
			req, err := http.NewRequestWithContext(bounded(b.t), http.MethodGet, fmt.Sprintf("%s/v1/exports/%s/files/%s", b.api.Base, b.e.ID, name), nil)
			noError(b.t, err)
			req.Header.Set("Range", part)
			res, err := http.DefaultClient.Do(req)
			noError(b.t, err)
			_, err = io.Copy(whole, res.Body)
			noError(b.t, err)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusPartialContent {
				b.t.Errorf("%s of %s: %s", part, name, res.Status)
			}
		}
		if got := hex.EncodeToString(whole.Sum(nil)); got != hash {
			b.t.Errorf("%s came as another one", name)
		}
	}
}

// areDeleted deletes the export while its bucket is away.
func (b bucketFiles) areDeleted(p place, server *buckettest.S3) {
	b.t.Helper()
	id := b.e.ID.String()
	server.Stop()
	said, code := p.command(b.t, "export", "delete", id)
	if code == 0 || !strings.Contains(said, "connection refused; nothing is deleted") {
		b.t.Errorf("[%d] %s", code, said)
	}
	said, code = p.command(b.t, "export", "delete", id, "--leave-files")
	if code != 0 || !strings.Contains(said, "what there is in s3://shards/killed/"+id+" could not be removed") {
		b.t.Errorf("[%d] %s", code, said)
	}
	said, code = p.command(b.t, "export", "list")
	if lines := slices.DeleteFunc(strings.Split(said, "\n"), func(l string) bool { return !strings.Contains(l, id) }); code != 0 || len(lines) > 0 {
		b.t.Errorf("[%d] it is still listed: %s", code, said)
	}
}
