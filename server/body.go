package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"relabel"
	"relabel/api"
)

// How large a request's body may be, in bytes.
const (
	smallBody   = 64 << 10 // larger ones need a slot
	maxBody     = 4 << 20
	maxTaskFile = 8 << 30
)

// How many bodies over smallBody may be received or held at once. Together they take at
// most largeBodies × maxBody of memory and uploads × maxTaskFile of disk.
const (
	largeBodies = 16
	uploads     = 4
	bodiesRead  = 4       // JSON bodies over freeBody whose values are checked and read at once
	freeBody    = 4 << 10 // smaller ones take no turn
)

// filePaths are the paths that take a file rather than JSON, with its largest size in
// bytes. Files are spooled to disk.
var filePaths = map[string]int64{"/v1/tasksets": maxTaskFile, "/v1/conversations": maxTaskFile, "/v1/tokenizers": maxTokenizerUpload, "/v1/trajectories/import": maxTaskFile}

// bodySlots bounds the large bodies that are held at once.
type bodySlots struct {
	json  chan struct{}
	files chan struct{}
	parse chan struct{} // of one
	tasks chan struct{} // of one; see beginImport
	read  chan struct{} // JSON that is checked and read; see beginRead
	draw  chan struct{} // of one; see beginDraw
}

func newBodySlots() bodySlots {
	return bodySlots{json: make(chan struct{}, largeBodies), files: make(chan struct{}, uploads), parse: make(chan struct{}, 1), tasks: make(chan struct{}, 1), read: make(chan struct{}, bodiesRead), draw: make(chan struct{}, 1)}
}

// importTime bounds how long a file may be imported.
const importTime = time.Hour

// parseWait bounds how long an upload waits for its turn to be parsed.
const parseWait = 60 * time.Second

// beginParse waits for the turn to parse an upload; leave ends it. CodeBusy after parseWait.
func (b bodySlots) beginParse(ctx context.Context) (leave func(), err error) {
	return beginTurn(ctx, b.parse, "other files are being read; try again later")
}

// beginImport waits for the turn to import tasks, which can take minutes; leave ends it. CodeBusy after parseWait.
func (b bodySlots) beginImport(ctx context.Context) (leave func(), err error) {
	return beginTurn(ctx, b.tasks, "other tasks are being imported; try again later")
}

// beginDraw waits for the turn to hold the names of all tasks of a task set, and the
// trajectories that are drawn of them; leave ends it. CodeBusy after parseWait.
func (b bodySlots) beginDraw(ctx context.Context) (leave func(), err error) {
	return beginTurn(ctx, b.draw, "other iterations are being drawn; try again later")
}

// beginTurn takes a slot; leave gives it back. CodeBusy with a text after parseWait.
func beginTurn(ctx context.Context, slot chan struct{}, busy string) (leave func(), err error) {
	wait := time.NewTimer(parseWait)
	defer wait.Stop()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-wait.C:
		return nil, relabel.Errorf(relabel.CodeBusy, "%s", busy)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// beginRead waits for permission to parse JSON of size bytes, which takes many times the memory
// of its text. leave releases it and may be called repeatedly. CodeBusy after parseWait.
func (b bodySlots) beginRead(ctx context.Context, size int64) (leave func(), err error) {
	if size <= freeBody {
		return func() {}, nil
	}
	leave, err = beginTurn(ctx, b.read, "other bodies are being read; retry in a few seconds")
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(leave), nil
}

// readKey finds what ends the turn to read a body in a request's context.
type readKey struct{}

// endRead ends the turn to read a request's body: it is read.
func endRead(ctx context.Context) {
	if leave, ok := ctx.Value(readKey{}).(func()); ok {
		leave()
	}
}

// body is the body of a request, received whole. Close frees its slot and its file.
type body struct {
	inMemory []byte
	file     *os.File // of an upload over smallBody; else nil
	size     int64    // in bytes
	sha256   string   // hex
	slot     chan struct{}
}

// Close releases the body's memory or file.
func (b *body) Close() {
	if b.file != nil {
		_ = b.file.Close() // it was unlinked as it was made
	}
	if b.slot != nil {
		<-b.slot
	}
}

// reader reads the body from its beginning.
func (b *body) reader() *io.SectionReader {
	if b.file != nil {
		return io.NewSectionReader(b.file, 0, b.size)
	}
	return io.NewSectionReader(bytes.NewReader(b.inMemory), 0, b.size)
}

// bodyKey finds the body in a request's context.
type bodyKey struct{}

// uploadOf returns the file that came with a request to one of filePaths, and its SHA-256 in hex.
func uploadOf(ctx context.Context) (content *io.SectionReader, digest string) {
	if b, ok := ctx.Value(bodyKey{}).(*body); ok {
		return b.reader(), b.sha256
	}
	return (&body{}).reader(), ""
}

// takeBody receives the body of a request whole and within its limits, refuses JSON that
// could be read in two ways, and answers repeated requests.
func (s *site) takeBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reads(r) && r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		b, err := s.receive(w, r)
		if err != nil {
			// What is left of the body is not read: the connection ends with the answer.
			endReading(r.Body, longAgo)
			w.Header().Set("Connection", "close")
			s.refuse(w, r, err)
			return
		}
		defer b.Close()
		if _, isFile := filePaths[r.URL.Path]; isFile {
			// A test's recorder has no deadlines; a real connection always has.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(importTime))
		}
		endReading(r.Body, time.Time{}) // the request may take longer than its body
		ctx := context.WithValue(r.Context(), bodyKey{}, b)
		if !reads(r) && isJSON(r) && len(b.inMemory) > 0 {
			leave, err := s.bodies.beginRead(ctx, b.size)
			if err == nil {
				defer leave()
				err = api.CheckJSON(b.inMemory, "body")
			}
			if err != nil {
				s.refuse(w, r, err)
				return
			}
			ctx = context.WithValue(ctx, readKey{}, leave)
		}
		r = r.WithContext(ctx)
		r.Body = io.NopCloser(b.reader())
		s.answerOnce(w, r, b.sha256, next)
	})
}

// receive reads the body. It keeps nothing if it fails.
func (s *site) receive(w http.ResponseWriter, r *http.Request) (*body, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, relabel.Errorf(codeMediaType, "send the body without Content-Encoding")
	}
	limit, isFile := filePaths[r.URL.Path]
	if !isFile {
		limit = maxBody
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	b := &body{}
	if err := s.fill(b, http.MaxBytesReader(w, r.Body, limit), isFile && r.Method == http.MethodPost); err != nil {
		b.Close()
		return nil, bodyError(err, s.Pace.orDefault())
	}
	return b, nil
}

// fill reads in completely: into memory, or to disk if it is a large file.
func (s *site) fill(b *body, in io.Reader, isFile bool) error {
	hash := sha256.New()
	in = io.TeeReader(in, hash)
	var memory bytes.Buffer
	var err error
	if b.size, err = io.CopyN(&memory, in, smallBody+1); err == nil {
		err = s.fillLarge(b, &memory, in, isFile)
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	b.inMemory, b.sha256 = memory.Bytes(), hex.EncodeToString(hash.Sum(nil))
	return err
}

// fillLarge continues after the first smallBody bytes, which memory holds.
func (s *site) fillLarge(b *body, memory *bytes.Buffer, in io.Reader, isFile bool) error {
	slots := s.bodies.json
	if isFile {
		slots = s.bodies.files
	}
	select {
	case slots <- struct{}{}:
		b.slot = slots
	default:
		return relabel.Errorf(relabel.CodeUnavailable, "too many large bodies are being received; retry in a few seconds").On("body")
	}
	if !isFile {
		n, err := io.Copy(memory, in)
		b.size += n
		return err
	}
	var err error
	if b.file, err = spoolFile(s.Spool); err != nil {
		return err
	}
	if _, err := memory.WriteTo(b.file); err != nil {
		return noSpool(err)
	}
	n, err := io.Copy(spooled{b.file}, in)
	b.size += n
	return err
}

// spooled marks the errors of the file, which are not those of the client.
type spooled struct{ file *os.File }

// Write writes to the file.
func (s spooled) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil {
		err = noSpool(err)
	}
	return n, err
}

// spoolFile makes a file without a name in dir: nothing of it is left however the
// process ends.
func spoolFile(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "relabel-upload-")
	if err != nil {
		return nil, noSpool(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, noSpool(errors.Join(err, file.Close()))
	}
	return file, nil
}

func noSpool(err error) error {
	return relabel.Errorf(relabel.CodeUnavailable, "the server cannot store uploads; see its log").Because(err)
}

func tooLarge(limit int64) error {
	return relabel.Errorf(codeTooLarge, "the body is over %d bytes", limit).On("body")
}

// bodyError returns the error for a body that was not received.
func bodyError(err error, pace Pace) error {
	var large *http.MaxBytesError
	var known *relabel.Error
	switch {
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.Is(err, errSlowBody):
		return slowBody(pace)
	case errors.As(err, &known):
		return err
	}
	return relabel.Errorf(api.CodeMalformed, "the body could not be read").Because(err)
}

// isJSON reports whether the body is to be read as JSON.
func isJSON(r *http.Request) bool {
	if _, isFile := filePaths[r.URL.Path]; isFile {
		return false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err != nil || kind == "application/json" || strings.HasSuffix(kind, "+json")
}
