package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"

	"relabel"
)

// frame is a frame of an attached connection.
func frame(of stdcopy.StdType, text string) []byte {
	header := []byte{byte(of), 0, 0, 0}
	return append(binary.BigEndian.AppendUint32(header, uint32(len(text))), text...)
}

// readStream reads the standard output of a stream whose connection ends after these bytes.
func readStream(t *testing.T, sent []byte) (out string, stderr string, err error) {
	t.Helper()
	here, there := net.Pipe()
	defer there.Close()
	s := newStream(types.HijackedResponse{Conn: here, Reader: bufio.NewReader(bytes.NewReader(sent))})
	text, err := io.ReadAll(s)
	if closed := s.Close(); closed != nil {
		t.Error(closed)
	}
	return string(text), s.stderr.String(), err
}

func TestAConnectionThatEndsWithinAFrameIsAnErrorOfTheEnvironment(t *testing.T) {
	whole := append(frame(stdcopy.Stderr, "warning"), frame(stdcopy.Stdout, "output")...)
	if out, stderr, err := readStream(t, whole); out != "output" || stderr != "warning" || err != nil {
		t.Errorf("whole: %q, %q, %v", out, stderr, err)
	}
	first := len(frame(stdcopy.Stderr, "warning"))
	for n := 1; n < len(whole); n++ {
		_, _, err := readStream(t, whole[:n])
		if n == first {
			if err != nil {
				t.Errorf("between two frames: %v", err)
			}
			continue
		}
		if relabel.CodeOf(err) != relabel.CodeEnvironment || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestAnErrorOfTheEngineInTheStreamIsReported(t *testing.T) {
	for of, text := range map[stdcopy.StdType]string{stdcopy.Systemerr: "error from the engine: no space", 9: "frame of the unknown stream 9"} {
		_, _, err := readStream(t, append(frame(of, "no space"), frame(stdcopy.Stdout, "output")...))
		var known *relabel.Error
		if relabel.CodeOf(err) != relabel.CodeEnvironment || !errors.As(err, &known) || known.Cause.Error() != text {
			t.Errorf("stream %d: %v", of, err)
		}
	}
}
