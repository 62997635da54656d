// Package wire is the protocol between a host and the sandboxd inside a sandbox, over one stream. Its
// frames have a length and a request id, so that several requests can be in flight and large contents
// are sent in chunks. sandboxd is built from it, so it imports little.
//
// A message consists of any number of Data frames, its body, and one frame with its JSON head.
// Requests and responses have the same form; a response has the id of its request. Larger data is
// compressed: an engine moves a megabyte in about four milliseconds, longer than a command takes to
// print it.
package wire

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"
)

// Version is the protocol's version. Both sides send theirs first; different ones end the connection.
const Version = 3

// Mark is part of the binary of each sandboxd of this version, so that another version is recognized
// before a sandbox is made.
const Mark = "relabel-sandboxd-protocol-3."

// Limits in bytes.
const (
	MaxFrame = 256 << 10 // of one part of a body; a longer body is sent in several
	MaxHead  = 1 << 20   // of a head: the longest command that Linux accepts fits, also escaped as JSON
	MaxBody  = 128 << 20 // of a message's body
	MaxPatch = 32 << 20  // of a patch
)

// ErrTooLong is returned for a message whose head or body is longer than its limit. Nothing of it has
// been written.
var ErrTooLong = errors.New("the message is too long")

// Kind is the kind of a frame.
type Kind byte

// The kinds of frames.
const (
	KindHello  Kind = 1 + iota // a Hello, the first frame of each side
	KindData                   // a part of the body of the message with this id
	KindPacked                 // the same, as an S2 block
	KindHead                   // the JSON head that completes the message with this id
	KindCancel                 // cancels the request with this id
	KindPing                   // the host is alive
	KindPong                   // sandboxd is alive
	kindEnd
)

// packFrom is the smallest part that is compressed.
const packFrom = 4 << 10

// headerLen is the length of a frame's header: payload length, kind, request id.
const headerLen = 4 + 1 + 4

// Header begins a frame.
type Header struct {
	Kind Kind
	ID   uint32
	Len  int // bytes of payload that follow
}

// Writer writes frames. It is safe for concurrent use; frames of several messages may be interleaved.
type Writer struct {
	mu     sync.Mutex
	buf    *bufio.Writer
	packed []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{buf: bufio.NewWriterSize(w, 64<<10)}
}

// Data writes a part of a body without flushing: the head does that.
func (w *Writer) Data(id uint32, part []byte) error {
	for len(part) > 0 {
		n := min(len(part), MaxFrame)
		if err := w.part(id, part[:n]); err != nil {
			return err
		}
		part = part[n:]
	}
	return nil
}

// part writes one frame of a body, compressed if that saves an eighth.
func (w *Writer) part(id uint32, part []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(part) >= packFrom {
		if w.packed == nil {
			w.packed = make([]byte, s2.MaxEncodedLen(MaxFrame))
		}
		if packed := s2.Encode(w.packed, part); len(packed) <= len(part)-len(part)/8 {
			return w.frame(KindPacked, id, packed)
		}
	}
	return w.frame(KindData, id, part)
}

// Head completes the message with this id and sends everything that was written. It fails with
// ErrTooLong, having written nothing.
func (w *Writer) Head(id uint32, head any) error { return w.Message(id, head, nil) }

// Message writes a whole message, body and head. It fails with ErrTooLong, having written nothing.
func (w *Writer) Message(id uint32, head any, body []byte) error {
	payload, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	if len(payload) > MaxHead || len(body) > MaxBody {
		return fmt.Errorf("%w: %d bytes of head and %d of body; the limits are %d and %d", ErrTooLong, len(payload), len(body), MaxHead, MaxBody)
	}
	if err := w.Data(id, body); err != nil {
		return err
	}
	return w.send(KindHead, id, payload)
}

// Hello writes the first frame.
func (w *Writer) Hello(h Hello) error {
	payload, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	return w.send(KindHello, 0, payload)
}

// Signal sends a frame without payload: Cancel, Ping or Pong.
func (w *Writer) Signal(kind Kind, id uint32) error { return w.send(kind, id, nil) }

// send writes a frame and flushes.
func (w *Writer) send(kind Kind, id uint32, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.frame(kind, id, payload); err != nil {
		return err
	}
	return w.buf.Flush()
}

// frame writes a frame; mu is held.
func (w *Writer) frame(kind Kind, id uint32, payload []byte) error {
	var header [headerLen]byte
	binary.BigEndian.PutUint32(header[:4], uint32(len(payload)))
	header[4] = byte(kind)
	binary.BigEndian.PutUint32(header[5:], id)
	if _, err := w.buf.Write(header[:]); err != nil {
		return err
	}
	_, err := w.buf.Write(payload)
	return err
}

// Reader reads frames. It is for one goroutine.
type Reader struct {
	r      io.Reader
	packed []byte
}

// NewReader returns a Reader of r, which should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next returns the header of the next frame. Its payload must be read before the next call. After an
// error the stream is unusable.
func (r *Reader) Next() (Header, error) {
	var b [headerLen]byte
	if _, err := io.ReadFull(r.r, b[:]); err != nil {
		return Header{}, err
	}
	h := Header{Kind: Kind(b[4]), ID: binary.BigEndian.Uint32(b[5:]), Len: int(binary.BigEndian.Uint32(b[:4]))}
	if h.Kind == 0 || h.Kind >= kindEnd {
		return h, fmt.Errorf("frame of unknown kind %d", h.Kind)
	}
	if most := maxPayload(h.Kind); h.Len > most {
		return h, fmt.Errorf("frame of %d bytes: the limit is %d", h.Len, most)
	}
	return h, nil
}

// maxPayload is the limit of a payload, in bytes.
func maxPayload(kind Kind) int {
	switch kind {
	case KindHead:
		return MaxHead
	case KindCancel, KindPing, KindPong:
		return 0
	}
	return MaxFrame
}

// Append appends the frame's payload to dst, decompressed if necessary. More than MaxBody in all is
// an error.
func (r *Reader) Append(dst []byte, h Header) ([]byte, error) {
	if h.Kind == KindPacked {
		return r.appendPacked(dst, h)
	}
	dst, part, err := extend(dst, h.Len)
	if err != nil {
		return dst, err
	}
	_, err = io.ReadFull(r.r, part)
	return dst, err
}

func (r *Reader) appendPacked(dst []byte, h Header) ([]byte, error) {
	var err error
	if r.packed, _, err = extend(r.packed[:0], h.Len); err != nil {
		return dst, err
	}
	if _, err = io.ReadFull(r.r, r.packed); err != nil {
		return dst, err
	}
	size, err := s2.DecodedLen(r.packed)
	if err != nil || size > MaxFrame {
		return dst, fmt.Errorf("packed frame of %d bytes: %w", size, errors.Join(err, s2.ErrTooLarge))
	}
	dst, part, err := extend(dst, size)
	if err != nil {
		return dst, err
	}
	_, err = s2.Decode(part, r.packed)
	return dst, err
}

// extend makes dst n bytes longer and returns it and its new part.
func extend(dst []byte, n int) (longer, part []byte, err error) {
	length := len(dst)
	if length+n > MaxBody {
		return dst, nil, fmt.Errorf("body of more than %d bytes", MaxBody)
	}
	longer = slices.Grow(dst, n)[:length+n]
	return longer, longer[length:], nil
}

// Decode reads the frame's payload as JSON into head.
func (r *Reader) Decode(h Header, head any) error {
	payload, err := r.Append(nil, h)
	if err != nil {
		return err
	}
	return json.Unmarshal(payload, head)
}
