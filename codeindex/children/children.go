// Package children parses files in child programs, so that a file that crashes, stops or fills a
// parser costs a child and not relabel. A child reads requests from its standard input: the number of
// a language (one byte), the length of the source (32 bits, little-endian) and the source. It answers
// with an outcome (one byte), the length of the records and the records: kind (c, f, m, or i for an
// import), first and last line and the length of the name as 32 bits, and the qualified name.
package children

import (
	"bytes"
	"cmp"
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
	switch {
	case p.path == "":
		return codeindex.Records{Problem: codeindex.NoParser}
	case len(source) > MaxBytes:
		return codeindex.Records{Problem: codeindex.TooLarge}
	case bytes.IndexByte(source, 0) >= 0:
		return codeindex.Records{Problem: codeindex.NotText}
	}
	var c *child
	select {
	case <-p.closed:
		return codeindex.Records{Problem: codeindex.NoParser}
	case c = <-p.slots:
	}
	c, r := p.try(c, language, bytes.ToValidUTF8(source, []byte("?")))
	p.slots <- c
	return r
}

// try asks a child, and once more a fresh one if an older one failed. It returns the child that is
// left.
func (p *Pool) try(c *child, language byte, source []byte) (*child, codeindex.Records) {
	used := c != nil
	c, r, err := p.ask(c, language, source)
	if err != nil && used && !errors.Is(err, errSlow) {
		c, r, err = p.ask(nil, language, source)
	}
	switch {
	case errors.Is(err, errSlow):
		return nil, codeindex.Records{Problem: codeindex.TooSlow}
	case err != nil:
		return nil, codeindex.Records{Problem: codeindex.ParseFail}
	}
	return c, r
}

// ask asks a child, a new one for nil. It returns the child that is left: nil after an error.
func (p *Pool) ask(c *child, language byte, source []byte) (*child, codeindex.Records, error) {
	if c == nil {
		var err error
		if c, err = start(p.path); err != nil {
			return nil, codeindex.Records{}, err
		}
	}
	outcome, records, err := c.ask(language, source, p.limit)
	var r codeindex.Records
	if err == nil {
		r, err = decode(outcome, records)
	}
	if err != nil {
		c.end()
		return nil, codeindex.Records{}, err
	}
	return c, r, nil
}
