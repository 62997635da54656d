package docker

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"
)

// stream is the attached connection to a container's first process. Reads return its standard
// output; its standard error, which explains a failed start, is kept.
type stream struct {
	net.Conn
	pipe   *io.PipeReader
	out    *bufio.Reader // of pipe
	stderr tail
}

func newStream(attached types.HijackedResponse) *stream {
	out, in := io.Pipe()
	s := &stream{Conn: attached.Conn, pipe: out, out: bufio.NewReaderSize(out, 64<<10)}
	go func() {
		// The engine's reader may contain the first bytes already.
		_, err := stdcopy.StdCopy(in, &s.stderr, attached.Reader)
		in.CloseWithError(cmp.Or(err, io.EOF))
	}()
	return s
}

// Read reads standard output.
func (s *stream) Read(p []byte) (int, error) { return s.out.Read(p) }

// Close closes the connection. It also ends the copying, which may wait for a reader.
func (s *stream) Close() error { return errors.Join(s.pipe.Close(), s.Conn.Close()) }

// maxErrors bounds a tail, in bytes.
const maxErrors = 4 << 10

// tail keeps the end of a program's standard error. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxErrors):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
