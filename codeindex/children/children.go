// Package children parses files in child programs, so that a file that crashes, stops or fills a
// parser costs a child and not relabel. A child reads requests from its standard input: the number of
// a language (one byte), the length of the source (32 bits, little-endian) and the source. It answers
// with an outcome (one byte), the length of the records and the records: kind (c, f, m, or i for an
// import), first and last line and the length of the name as 32 bits, and the qualified name. A child
// of a language whose number has its highest bit set answers with codeindex.Parts as JSON instead.
package children

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"relabel/codeindex"
)

const (
	// MaxBytes is the length of the longest source that is parsed.
	MaxBytes  = 4 << 20
	timeLimit = 10 * time.Second // for a file
	wantParts = 0x80             // in the number of a language: the parts are asked for, not the records
)

// Find returns the path of a program in a folder: dir, or $RELABEL_PARSERS, or that of this program. It
// fails if the file is missing or lacks the mark of the version that is wanted.
func Find(dir, name, mark string) (string, error) {
	if dir = cmp.Or(dir, os.Getenv("RELABEL_PARSERS")); dir == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find %s: name its folder in RELABEL_PARSERS: %w", name, err)
		}
		dir = filepath.Dir(self)
	}
	path := filepath.Join(dir, name)
	binary, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s does not exist: build it with `make build`, or set RELABEL_PARSERS to its folder: %w", path, err)
	}
	if !bytes.Contains(binary, []byte(mark)) {
		return "", fmt.Errorf("%s is not of this version of relabel: build both with `make build`, or name the folder of the right one in RELABEL_PARSERS", path)
	}
	return path, nil
}

// Pool runs children of one program, one for each CPU at most. It is safe for concurrent use.
type Pool struct {
	path   string
	limit  time.Duration
	slots  chan *child // nil: none was started in this slot, or it ended
	closed chan struct{}
	close  sync.Once
}

// New returns a pool of the program at a path that Find returned. With "" each file has the problem
// NoParser.
func New(path string) *Pool {
	p := &Pool{path: path, limit: timeLimit, closed: make(chan struct{}), slots: make(chan *child, runtime.NumCPU())}
	for range cap(p.slots) {
		p.slots <- nil
	}
	return p
}

// Close ends the children, when the files in them are done. Later files have the problem NoParser.
func (p *Pool) Close() {
	p.close.Do(func() {
		close(p.closed)
		for range cap(p.slots) {
			if c := <-p.slots; c != nil {
				c.end()
			}
		}
	})
}

// Parse returns the records of a source in the program's language with the number. An empty file, or
// one that is too large or is no text, does not reach a child. A file with Syntax errors has the
// records around them.
func (p *Pool) Parse(language byte, source []byte) codeindex.Records {
	var r codeindex.Records
	problem := p.answer(language, source, func(outcome byte, body []byte) (err error) {
		r, err = decode(outcome, body)
		return err
	})
	if problem != "" {
		return codeindex.Records{Problem: problem}
	}
	return r
}

// Parts returns the parts of a source's functions, like Parse.
func (p *Pool) Parts(language byte, source []byte) codeindex.Parts {
	var parts codeindex.Parts
	problem := p.answer(language|wantParts, source, func(_ byte, body []byte) error {
		parts = codeindex.Parts{}
		return json.Unmarshal(body, &parts)
	})
	if problem != "" {
		return codeindex.Parts{Problem: problem}
	}
	return parts
}

// answer gives the answer of a child about a source to read, once more if that fails. The problem is
// that of a source without an answer.
func (p *Pool) answer(language byte, source []byte, read func(outcome byte, body []byte) error) codeindex.Problem {
	switch {
	case p.path == "":
		return codeindex.NoParser
	case len(source) > MaxBytes:
		return codeindex.TooLarge
	case bytes.IndexByte(source, 0) >= 0:
		return codeindex.NotText
	}
	var c *child
	select {
	case <-p.closed:
		return codeindex.NoParser
	case c = <-p.slots:
	}
	c, problem := p.try(c, language, bytes.ToValidUTF8(source, []byte("?")), read)
	p.slots <- c
	return problem
}

// try asks a child, and once more a fresh one if an older one failed. It returns the child that is
// left.
func (p *Pool) try(c *child, language byte, source []byte, read func(byte, []byte) error) (*child, codeindex.Problem) {
	used := c != nil
	c, err := p.ask(c, language, source, read)
	if err != nil && used && !errors.Is(err, errSlow) {
		c, err = p.ask(nil, language, source, read)
	}
	switch {
	case errors.Is(err, errSlow):
		return nil, codeindex.TooSlow
	case err != nil:
		return nil, codeindex.ParseFail
	}
	return c, ""
}

// ask asks a child, a new one for nil. It returns the child that is left: nil after an error.
func (p *Pool) ask(c *child, language byte, source []byte, read func(byte, []byte) error) (*child, error) {
	if c == nil {
		var err error
		if c, err = start(p.path); err != nil {
			return nil, err
		}
	}
	outcome, body, err := c.ask(language, source, p.limit)
	if err == nil {
		err = read(outcome, body)
	}
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}
