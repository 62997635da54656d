package docker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
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
		err := demultiplex(in, &s.stderr, attached.Reader)
		if err != io.EOF {
			err = errLost.Because(err)
		}
		in.CloseWithError(err)
	}()
	return s
}

// demultiplex copies standard output and standard error until the connection ends. It returns io.EOF
// only if that is between two frames: stdcopy.StdCopy takes any end for a regular one.
func demultiplex(stdout, stderr io.Writer, from io.Reader) error {
	var header [8]byte // the number of the stream, three zeros, the size
	for {
		if _, err := io.ReadFull(from, header[:]); err != nil {
			return err
		}
		to := stdout
		size := int64(binary.BigEndian.Uint32(header[4:]))
		switch stdcopy.StdType(header[0]) {
		case stdcopy.Stdin, stdcopy.Stdout:
		case stdcopy.Stderr:
			to = stderr
		case stdcopy.Systemerr:
			text, err := io.ReadAll(io.LimitReader(from, min(size, maxErrors)))
			return errors.Join(fmt.Errorf("error from the engine: %s", text), err)
		default:
			return fmt.Errorf("frame of the unknown stream %d", header[0])
		}
		if _, err := io.CopyN(to, from, size); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
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
