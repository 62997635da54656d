package shard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/shard/buckettest"
)

// bucketStore is a store with an export of three parts to a destination.
func bucketStore(name, destination string) *fixedStore {
	s := newFixedStore(someTrajectory(1, 0, 5), someTrajectory(1, 2, 3), someTrajectory(2, 0, 4))
	s.newExport(name, relabel.ExportSelection{Aggregated: true})
	s.export.Form.Divide = 2
	s.export.Destination, s.export.FolderID = destination, ""
	return s
}

func bucketExporter(t testing.TB, s Store) *Exporter {
	x := newTestExporter(t, s)
	x.Machine, x.partBytes = "host-7", 1 // a trajectory a part
	if fixed, ok := s.(*fixedStore); ok {
		x.Destinations.Endpoints = operatorsServers(t, fixed.export.Destination)
	} else if broken, ok := s.(*breaking); ok {
		x.Destinations.Endpoints = operatorsServers(t, broken.fixedStore.export.Destination)
	}
	return x
}

// operatorsServers are the servers that a destination names, as an operator would.
func operatorsServers(t testing.TB, raw string) []string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if server := (destination{options: u.Query()}).namedServer(); server != "" {
		return []string{server}
	}
	return nil
}

// inFolder is what the same export is in a folder.
func inFolder(t *testing.T, destination string) map[string]string {
	s := bucketStore("in a folder", destination)
	s.export.Destination, s.export.FolderID = "", "here"
	return filesBelow(t, export(t, s, bucketExporter(t, s)).Directory)
}

// read reads every file of an export as readers do.
func read(t *testing.T, x *Exporter, e relabel.Export) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range e.Files {
		r, err := x.Open(context.Background(), e, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		all[f.Path] = string(text)
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if names, wanted := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(names, wanted) {
		t.Errorf("%s: files %v, want %v", what, names, wanted)
	}
	for name, text := range got {
		if text != want[name] {
			t.Errorf("%s: %s is other than it should be: %s", what, name, difference(text, want[name]))
		}
	}
}

func TestAnExportToABucketEqualsOneToAFolder(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	s := bucketStore("one", server.URL("shards/of/us"))
	want := inFolder(t, "")
	x := bucketExporter(t, s)
	e := export(t, s, x)
	if e.Parts != 3 || e.Directory != "s3://shards/of/us/"+e.ID.String() {
		t.Errorf("%d parts in %s", e.Parts, e.Directory)
	}
	folder := filepath.Join(server.Folder, "shards/of/us", e.ID.String())
	same(t, "in the bucket", filesBelow(t, folder), want)
	same(t, "as it is read", read(t, x, e), want)
	manifest, err := os.Stat(filepath.Join(folder, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.ModTime().After(manifest.ModTime()) {
			t.Errorf("%s came after the manifest, or did not: %v", name, err)
		}
	}
}

func TestAFileInABucketIsReadFromAnyPlace(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	s := bucketStore("one", server.URL("shards"))
	x := bucketExporter(t, s)
	e := export(t, s, x)
	whole := read(t, x, e)["messages/00000.parquet"]
	r, err := x.Open(context.Background(), e, "messages/00000.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{100, 0, int64(len(whole)) - 4} {
		got := make([]byte, 4)
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, got); err != nil || string(got) != whole[at:at+4] {
			t.Errorf("at %d: %q, %v", at, got, err)
		}
	}
	if info, err := r.Stat(); err != nil || info.Size() != int64(len(whole)) || info.Name() != "00000.parquet" {
		t.Errorf("%v, %v", info, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages/00009.parquet", "../" + e.ID.String() + "/manifest.json"} {
		if _, err := x.Open(context.Background(), e, name); relabel.CodeOf(err) != relabel.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// breaking is a store whose worker dies when it notes a file for the n-th time.
type breaking struct {
	*fixedStore
	left int
	die  context.CancelFunc
}

func (b *breaking) SaveExportFile(ctx context.Context, id relabel.ID, part int, f relabel.ExportFile) error {
	if b.left--; b.left < 0 {
		b.die()
		return ctx.Err()
	}
	return b.fixedStore.SaveExportFile(ctx, id, part, f)
}

func TestAnExportToABucketContinuesAtTheLastFinishedFile(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	s := bucketStore("one", server.URL("shards"))
	want := inFolder(t, "")
	ctx, die := context.WithCancel(context.Background())
	defer die()
	if err := run(ctx, s, bucketExporter(t, &breaking{s, 3, die})); err == nil {
		t.Fatal("the worker did not die")
	}
	folder := filepath.Join(server.Folder, "shards", s.export.ID.String())
	before := times(t, folder)
	if len(before) != 4 || s.export.State != relabel.ExportRunning {
		t.Fatalf("%v is there of an export that is %s", before, s.export.State)
	}
	export(t, s, bucketExporter(t, s)) // another worker
	same(t, "in the bucket", filesBelow(t, folder), want)
	after, again := times(t, folder), 0
	for name, at := range before {
		if after[name] != at {
			again++
		}
	}
	if again != 1 { // the one that was there and not noted
		t.Errorf("%d of %d files were written again", again, len(before))
	}
}

// times is when each file below a folder was written.
func times(t *testing.T, folder string) map[string]int64 {
	t.Helper()
	at := map[string]int64{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			at[name] = info.ModTime().UnixNano()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestConcurrentExportsToOneBucketAreSeparate(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	want := inFolder(t, "")
	stores := []*fixedStore{bucketStore("one", server.URL("shards/here")), bucketStore("two", server.URL("shards/here"))}
	ended := make(chan error)
	for _, s := range stores {
		for range 2 { // workers, which do the same at once
			go func() { ended <- run(context.Background(), s, bucketExporter(t, s)) }()
		}
	}
	for range 2 * len(stores) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, s := range stores {
		same(t, s.export.ID.String(), filesBelow(t, filepath.Join(server.Folder, "shards/here", s.export.ID.String())), want)
	}
}

func TestOnlyFilesOfTheExportAreRemovedFromABucket(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	s := bucketStore("one", server.URL("shards/p"))
	x := bucketExporter(t, s)
	e := export(t, s, x)
	others := []string{"p/" + e.ID.String() + "/notes.txt", "p/" + e.ID.String() + "/messages/cache.arrow", "p/" + e.ID.String() + "x/manifest.json", "p/manifest.json", "elsewhere"}
	for _, name := range others {
		full := filepath.Join(server.Folder, "shards", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte("theirs"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // again, as after a crash
		if err := x.Remove(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	left := slices.Sorted(maps.Keys(filesBelow(t, filepath.Join(server.Folder, "shards"))))
	if slices.Sort(others); !slices.Equal(left, others) {
		t.Errorf("%v is left, want %v", left, others)
	}
}

func TestAnUnwritableDestinationIsReportedBeforeAnythingIsBuilt(t *testing.T) {
	server := buckettest.StartS3(t, "shards")
	gone := buckettest.StartS3(t)
	gone.Stop()
	for _, c := range []struct {
		name, key, secret, url string
		code                   relabel.Code
		says                   []string
	}{
		{"a wrong secret", buckettest.Key, "wrong", server.URL("shards/p"), relabel.CodeInvalid,
			[]string{"s3://shards/p at http://127.0.0.1", "the keys on host-7 were rejected (SignatureDoesNotMatch)", "AWS_SECRET_ACCESS_KEY"}},
		{"an unknown key", "nobody", "wrong", server.URL("shards/p"), relabel.CodeInvalid, []string{"the keys on host-7 were rejected"}},
		{"no key", "", "", server.URL("shards/p"), relabel.CodeInvalid, []string{"there are no keys on host-7", "AWS_ACCESS_KEY_ID"}},
		{"an absent bucket", buckettest.Key, buckettest.Secret, server.URL("nowhere/p"), relabel.CodeInvalid,
			[]string{"s3://nowhere/p", "the bucket does not exist (NoSuchBucket): create it"}},
		{"no server", buckettest.Key, buckettest.Secret, gone.URL("shards/p"), relabel.CodeUnavailable, []string{"s3://shards/p at http://127.0.0.1", "connection refused"}},
		{"no region", buckettest.Key, buckettest.Secret, "s3://shards/p", relabel.CodeInvalid, []string{"check the region"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			buckettest.UseKeys(t)
			t.Setenv("AWS_ACCESS_KEY_ID", c.key)
			t.Setenv("AWS_SECRET_ACCESS_KEY", c.secret)
			t.Setenv("HOME", t.TempDir()) // where a developer's own keys and region are
			s := bucketStore("one", c.url)
			err := bucketExporter(t, s).Step(context.Background(), relabel.ExportJob{ExportID: s.export.ID, Step: relabel.CutExport})
			if relabel.CodeOf(err) != c.code || s.export.State != relabel.ExportQueued {
				t.Errorf("%s: %v, and the export is %s", relabel.CodeOf(err), err, s.export.State)
			}
			for _, part := range c.says {
				if said := safeReason(err); err == nil || !strings.Contains(said, part) || strings.Contains(said, "wrong") {
					t.Errorf("it says %q, not %q", said, part)
				}
			}
		})
	}
	if there := filesBelow(t, server.Folder); len(there) > 0 {
		t.Errorf("%v was written", slices.Sorted(maps.Keys(there)))
	}
}

// work does a step as the queue has it done.
func work(s *fixedStore, x *Exporter, step relabel.ExportStep, part int) error {
	job := &river.Job[relabel.ExportJob]{JobRow: &rivertype.JobRow{Attempt: 1, MaxAttempts: 3}, Args: relabel.ExportJob{ExportID: s.export.ID, Step: step, Part: part}}
	return NewWorker(x).Work(context.Background(), job)
}

func TestAnExportWaitsForItsDestinationAndReportsIt(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	want := inFolder(t, "")
	s := bucketStore("one", server.URL("shards"))
	x := bucketExporter(t, s)
	var log bytes.Buffer
	x.Log = zerolog.New(&log)
	waits := func(what string, err error, says string) {
		t.Helper()
		var snoozed *river.JobSnoozeError
		if !errors.As(err, &snoozed) || len(s.reasons) > 0 || !strings.Contains(s.export.Waiting, says) {
			t.Errorf("%s: %v, failed for %q, waits for %q", what, err, s.reasons, s.export.Waiting)
		}
		if !strings.Contains(log.String(), "export waits") || !strings.Contains(log.String(), says) {
			t.Errorf("%s: the log says %s", what, &log)
		}
	}
	server.Stop()
	waits("before the cut", work(s, x, relabel.CutExport, 0), "connection refused")
	server.Start()
	if err := errors.Join(work(s, x, relabel.CutExport, 0), work(s, x, relabel.BuildPart, 0)); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	waits("in a part", work(s, x, relabel.BuildPart, 1), "connection refused")
	server.Start()
	t.Setenv("AWS_SECRET_ACCESS_KEY", "changed meanwhile") // what is built is not thrown away for that
	waits("with other keys", work(s, x, relabel.BuildPart, 1), "SignatureDoesNotMatch")
	buckettest.UseKeys(t)
	if err := errors.Join(work(s, x, relabel.BuildPart, 1), work(s, x, relabel.BuildPart, 2)); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	waits("at the end", work(s, x, relabel.FinishExport, 0), "connection refused")
	server.Start()
	if err := work(s, x, relabel.FinishExport, 0); err != nil {
		t.Fatal(err)
	}
	same(t, "in the bucket", filesBelow(t, filepath.Join(server.Folder, "shards", s.export.ID.String())), want)
}

func TestAnExportToAzure(t *testing.T) {
	server := buckettest.StartAzure(t, "shards")
	want := inFolder(t, "")
	s := bucketStore("one", server.URL("shards/p"))
	x := bucketExporter(t, s)
	e := export(t, s, x)
	same(t, "as it is read", read(t, x, e), want)
	if e.Directory != "azblob://shards/p/"+e.ID.String() {
		t.Errorf("it is in %s", e.Directory)
	}
	if err := x.Remove(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Open(context.Background(), e, manifestName); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("after the removal: %v", err)
	}
	absent := bucketStore("two", server.URL("nowhere/p"))
	if err := work(absent, bucketExporter(t, absent), relabel.CutExport, 0); len(absent.reasons) != 1 ||
		!strings.Contains(absent.reasons[0], "azblob://nowhere/p at 127.0.0.1") || !strings.Contains(absent.reasons[0], "the bucket does not exist (ContainerNotFound)") {
		t.Errorf("%q, %v", absent.reasons, err)
	}
	server.Stop()
	away := bucketStore("three", server.URL("shards/p"))
	if err := work(away, bucketExporter(t, away), relabel.CutExport, 0); len(away.reasons) > 0 || !strings.Contains(away.export.Waiting, "connection refused") {
		t.Errorf("%v, failed for %q, waits for %q", err, away.reasons, away.export.Waiting)
	}
}
