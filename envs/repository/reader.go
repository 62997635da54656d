package repository

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// reader is a live git cat-file --batch.
type reader struct {
	dir    string // of the mirror
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   complaint
	used   bool // it has answered before
	kill   context.CancelFunc
	broken bool // its answers are no longer in step with the questions
}

// startReader starts a reader, which lives until its end is called.
func (m *Mirrors) startReader(dir string) (*reader, error) {
	ctx, kill := context.WithCancel(context.Background())
	r := &reader{dir: dir, kill: kill}
	r.cmd = m.command(ctx, dir, "cat-file", "--batch")
	r.cmd.Stderr = &r.said
	in, err := r.cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		kill()
		return nil, err
	}
	r.in, r.out = in, bufio.NewReaderSize(out, 64<<10)
	if err := r.cmd.Start(); err != nil {
		kill()
		return nil, err
	}
	return r, nil
}

// end kills the child, which only reads, and waits for it.
func (r *reader) end() error {
	r.kill()
	return r.cmd.Wait()
}

// answer is what git says of an object.
type answer struct {
	missing  bool
	id, kind string
	size     int64
	content  []byte // of at most the limit
}

// skipLimit is the content that is skipped rather than ending the reader.
const skipLimit = 1 << 20

var errAnswer = errors.New("git gave an answer that is none")

// ask asks for an object and at most limit bytes of its content. After an error or the end of ctx the
// reader is broken.
func (r *reader) ask(ctx context.Context, object string, limit int64) (a answer, err error) {
	stop := context.AfterFunc(ctx, r.kill)
	defer func() {
		ended := !stop()
		r.broken = r.broken || err != nil || ended
		r.used = true
	}()
	if _, err := io.WriteString(r.in, object+"\n"); err != nil {
		return answer{}, err
	}
	line, err := r.out.ReadSlice('\n')
	if err != nil {
		return answer{}, err
	}
	head := strings.TrimSuffix(string(line), "\n")
	if head == object+" missing" {
		return answer{missing: true}, nil
	}
	if a, err = parseHead(head); err != nil {
		return answer{}, err
	}
	a.content = make([]byte, min(a.size, limit))
	if _, err := io.ReadFull(r.out, a.content); err != nil {
		return answer{}, err
	}
	rest := a.size - int64(len(a.content)) + 1 // and the end of the line
	if rest > skipLimit {
		r.broken = true
		return a, nil
	}
	_, err = r.out.Discard(int(rest))
	return a, err
}

// parseHead reads "ID KIND SIZE".
func parseHead(head string) (answer, error) {
	parts := strings.Split(head, " ")
	if len(parts) != 3 || !fullID.MatchString(parts[0]) {
		return answer{}, fmt.Errorf("%w: %.200q", errAnswer, head)
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || size < 0 {
		return answer{}, fmt.Errorf("%w: %.200q", errAnswer, head)
	}
	return answer{id: parts[0], kind: parts[1], size: size}, nil
}
