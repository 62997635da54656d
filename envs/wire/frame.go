// Package wire is the language that a host and the sandboxd inside a sandbox speak over
// one stream: frames with a length and a request id, so that several requests can be in
// flight and large contents travel in chunks. sandboxd is built from it, so it imports
// little.
//
// A message is any number of Data frames, its body, followed by one frame with its JSON
// head. Requests and responses look alike; a response has the id of its request. Larger
// data travels compressed: an engine moves a megabyte in some four milliseconds, which is
// more than a command takes to print it.
package wire

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// Version is the protocol's version. Both sides say theirs first, and differing ones
// part.
const Version = 2

// Mark stands in the binary of each sandboxd of this version, so that another is known
// before any sandbox is made.
const Mark = "relabel-sandboxd-protocol-2."

// MaxFrame is the most bytes of a part of a body; longer bodies travel in several.
const MaxFrame = 256 << 10

// MaxHead is the most bytes of a head's payload: the longest command that Linux takes
// fits, whatever JSON makes of it.
const MaxHead = 1 << 20

// ErrHeadTooLong is returned for a head that does not fit a frame. Nothing of the message
// has been written then.
var ErrHeadTooLong = errors.New("head is too long")

// MaxBody is the most bytes of a message's body.
const MaxBody = 128 << 20

// MaxPatch is the most bytes of a patch.
const MaxPatch = 32 << 20

// Kind says what a frame is.
type Kind byte

// The kinds of frames.
const (
	KindHello  Kind = 1 + iota // a Hello, the first frame of each side
	KindData                   // a part of the body of the message with this id
	KindPacked                 // the same, as an S2 block
	KindHead                   // the JSON head that completes the message with this id
	KindCancel                 // the host no longer wants the answer to this id
	KindPing                   // the host is alive
	KindPong                   // sandboxd is alive
	kindEnd
)

// packFrom is the least size of a part that is worth compressing.
const packFrom = 4 << 10

// headerLen is the length of a frame's header: payload length, kind, request id.
const headerLen = 4 + 1 + 4

// Header is what a frame begins with.
type Header struct {
	Kind Kind
	ID   uint32
	Len  int // bytes of payload that follow
}

// Writer writes frames. It is safe for concurrent use; frames of one message may be
// followed by frames of others.
type Writer struct {
	mu     sync.Mutex
	buf    *bufio.Writer
	packed []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{buf: bufio.NewWriterSize(w, 64<<10)}
}

// Data writes a part of a body, without flushing: the head that follows does.
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

// part writes one frame of a body, compressed where that saves an eighth.
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

// Head completes the message with this id and sends all that was written. It fails with
// ErrHeadTooLong, having written nothing.
func (w *Writer) Head(id uint32, head any) error {
	payload, err := encodeHead(head)
	if err != nil {
		return err
	}
	return w.send(KindHead, id, payload)
}

// Message writes a whole message, body and head. It fails with ErrHeadTooLong, having
// written nothing.
func (w *Writer) Message(id uint32, head any, body []byte) error {
	payload, err := encodeHead(head)
	if err != nil {
		return err
	}
	if err := w.Data(id, body); err != nil {
		return err
	}
	return w.send(KindHead, id, payload)
}

func encodeHead(head any) ([]byte, error) {
	payload, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	if len(payload) > MaxHead {
		return nil, fmt.Errorf("%w: %d bytes", ErrHeadTooLong, len(payload))
	}
	return payload, nil
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

// send writes a frame and all that was written before it.
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

// Next returns the header of the next frame, whose payload is to be read with Append
// before the next one. A frame that breaks the limits is an error, after which the
// stream is of no use.
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

// maxPayload is the most bytes that a frame of this kind may have.
func maxPayload(kind Kind) int {
	switch kind {
	case KindHead:
		return MaxHead
	case KindCancel, KindPing, KindPong:
		return 0
	}
	return MaxFrame
}

// Append reads the frame's payload to the end of dst, unpacked where it is packed. More
// than MaxBody in all is an error.
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

// extend makes dst n bytes longer and returns it and what is new of it.
func extend(dst []byte, n int) (longer, part []byte, err error) {
	had := len(dst)
	if had+n > MaxBody {
		return dst, nil, fmt.Errorf("body of more than %d bytes", MaxBody)
	}
	if cap(dst)-had < n {
		dst = append(make([]byte, 0, max(had+n, 2*had)), dst...)
	}
	dst = dst[:had+n]
	return dst, dst[had:], nil
}

// Decode reads the frame's payload as JSON into head.
func (r *Reader) Decode(h Header, head any) error {
	payload, err := r.Append(nil, h)
	if err != nil {
		return err
	}
	return json.Unmarshal(payload, head)
}
