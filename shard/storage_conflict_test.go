package shard

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/riverqueue/river"

	"relabel"
	"relabel/shard/buckettest"
)

// collider stands before a server and answers the first requests for each object with a
// status, by default 409, as a server does where another request is at the same object or
// removes its folder.
type collider struct {
	times  int // each; less than none: always
	status int
	word   string

	mu   sync.Mutex
	seen map[string]int
}

func (c *collider) collides(r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := r.Method + " " + r.URL.Path
	c.seen[key]++
	return c.times < 0 || c.seen[key] <= c.times
}

// start returns the destination below path that goes through the collider.
func (c *collider) start(t *testing.T, server interface{ URL(string) string }, path string) string {
	t.Helper()
	c.seen = map[string]int{}
	direct, err := url.Parse(server.URL(path))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(cmp.Or(direct.Query().Get("endpoint"), "http://"+direct.Query().Get("domain")))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host = target.Scheme, target.Host // the Host header is signed: it stays
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.collides(r) {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(cmp.Or(c.status, http.StatusConflict))
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>a conflict</Message></Error>", c.word)
	}))
	t.Cleanup(front.Close)
	return strings.Replace(direct.String(), target.Host, strings.TrimPrefix(front.URL, "http://"), 1)
}

// TestACollisionInABucketIsRetried: two workers that try the same destination at once
// meet at one object, of which a server may say 409.
func TestACollisionInABucketIsRetried(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	want := inFolder(t, "")
	c := &collider{times: 1, word: "ExistingObjectIsDirectory"}
	s := bucketStore("one", c.start(t, server, "shards"))
	e := export(t, s, bucketExporter(t, s))
	same(t, "in the bucket", filesBelow(t, filepath.Join(server.Folder, "shards", e.ID.String())), want)
}

func TestACollisionThatLastsIsWaitedForAndAnObjectInTheWayIsNot(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	c := &collider{times: -1, word: "OperationAborted"}
	s := bucketStore("one", c.start(t, server, "shards"))
	var snoozed *river.JobSnoozeError
	err := work(s, bucketExporter(t, s), relabel.CutExport, 0)
	if !errors.As(err, &snoozed) || len(s.reasons) > 0 || !strings.Contains(s.export.Waiting, "concurrent requests to the same object conflicted at every attempt (OperationAborted)") {
		t.Errorf("%v, failed for %q, waits for %q", err, s.reasons, s.export.Waiting)
	}
	if err := os.WriteFile(filepath.Join(server.Folder, "shards", "taken"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	s = bucketStore("two", server.URL("shards/taken"))
	err = work(s, bucketExporter(t, s), relabel.CutExport, 0)
	if len(s.reasons) != 1 || !strings.Contains(s.reasons[0], "it answered 409 (ObjectParentIsFile): an existing object conflicts") {
		t.Errorf("%v, failed for %q, waits for %q", err, s.reasons, s.export.Waiting)
	}
}

// TestACollisionInAnAzureContainerIsRetried: as in a bucket of S3.
func TestACollisionInAnAzureContainerIsRetried(t *testing.T) {
	server := buckettest.StartAzure(t, "shards")
	want := inFolder(t, "")
	c := &collider{times: 1, word: "ContainerBeingDeleted"}
	s := bucketStore("one", c.start(t, server, "shards"))
	x := bucketExporter(t, s)
	same(t, "in the container", read(t, x, export(t, s, x)), want)
}

// TestACollisionInAnAzureContainerThatLastsIsWaitedFor: by whichever status and word Azure says
// that another request was first. A blob of another kind in the way is not waited for.
func TestACollisionInAnAzureContainerThatLastsIsWaitedFor(t *testing.T) {
	server := buckettest.StartAzure(t, "shards")
	for word, status := range map[string]int{"ConditionNotMet": 412, "InvalidBlockList": 400} {
		c := &collider{times: -1, status: status, word: word}
		s := bucketStore("one", c.start(t, server, "shards"))
		var snoozed *river.JobSnoozeError
		err := work(s, bucketExporter(t, s), relabel.CutExport, 0)
		if !errors.As(err, &snoozed) || len(s.reasons) > 0 || !strings.Contains(s.export.Waiting, "concurrent requests to the same object conflicted at every attempt ("+word+")") {
			t.Errorf("%s: %v, failed for %q, waits for %q", word, err, s.reasons, s.export.Waiting)
		}
	}
	c := &collider{times: -1, word: "InvalidBlobType"}
	s := bucketStore("two", c.start(t, server, "shards"))
	if err := work(s, bucketExporter(t, s), relabel.CutExport, 0); len(s.reasons) != 1 || !strings.Contains(s.reasons[0], "it answered 409 (InvalidBlobType): an existing object conflicts") {
		t.Errorf("%v, failed for %q, waits for %q", err, s.reasons, s.export.Waiting)
	}
}
