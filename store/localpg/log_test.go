package localpg

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The server keeps the file open and appends to it.
func TestALongLogIsRotatedWhileTheServerWritesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "postgres.log")
	server, err := openLog(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	write := func(text string) {
		t.Helper()
		if _, err := server.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("old and long\n")
	stop := rotateLogs(path, time.Millisecond, 8)
	defer stop()
	for {
		if is, err := os.Stat(path); err != nil {
			t.Fatal(err)
		} else if is.Size() == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	write("new\n")
	for name, want := range map[string]string{path: "new\n", path + ".1": "nd long\n"} {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s holds %q, %v, not %q", filepath.Base(name), got, err, want)
		}
	}
}

func TestALogThatIsALinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	precious, path := filepath.Join(dir, "precious"), filepath.Join(dir, "postgres.log")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, path); err != nil {
		t.Fatal(err)
	}
	if err := rotateLog(path, 1); err == nil {
		t.Error("the link was followed")
	}
	if got, _ := os.ReadFile(precious); string(got) != "precious" {
		t.Errorf("the file behind it holds %q", got)
	}
}
