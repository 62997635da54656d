package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Limits of a message of rows, in bytes.
const (
	mostMetadata = 1 << 20
	mostBody     = 64 << 20
)

// Places in the metadata of a message, which is a FlatBuffer (Message.fbs of Arrow).
const (
	slotType     = 6  // of Message: what the header is
	slotHeader   = 8  // of Message
	slotBody     = 10 // of Message: the length of the body
	slotCustom   = 12 // of Message: metadata of the writer's own
	slotCodec    = 10 // of RecordBatch: the compression of the buffers
	isBatch      = 3  // the type of a header that is a RecordBatch
	continuation = 0xffffffff
)

// opening is how every file begins: the message with the schema.
var opening = sync.OnceValues(func() ([]byte, error) {
	var out bytes.Buffer
	err := ipc.NewWriter(&out, ipc.WithSchema(schema())).Close()
	const end = 8 // of a stream
	return out.Bytes()[:max(0, out.Len()-end)], err
})

// guard passes on a stream whose messages have no more than a Writer's: the library allocates what lengths in a
// message ask for, and memory that there is not ends the process.
type guard struct {
	from  io.Reader
	ready []byte // checked bytes that are passed on next
	body  int64  // bytes of the body that follow
	begun bool
}

// Read implements io.Reader.
func (g *guard) Read(p []byte) (n int, err error) {
	switch {
	case len(g.ready) > 0:
		n = copy(p, g.ready)
		g.ready = g.ready[n:]
		return n, nil
	case g.body > 0:
		n, err = g.from.Read(p[:min(int64(len(p)), g.body)])
		g.body -= int64(n)
		return n, err
	case !g.begun:
		g.begun = true
		err = g.readOpening()
	default:
		err = g.readMessage()
	}
	if err != nil {
		return 0, err
	}
	return g.Read(p)
}

// readOpening reads the message with the schema.
func (g *guard) readOpening() error {
	want, err := opening()
	if err != nil {
		return err
	}
	g.ready = make([]byte, len(want))
	if _, err := io.ReadFull(g.from, g.ready); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if !bytes.Equal(g.ready, want) {
		return fmt.Errorf("does not begin with the schema that relabel writes: lists named %v", names)
	}
	return nil
}

// readMessage reads the metadata of the next message.
func (g *guard) readMessage() error {
	var head [8]byte
	if _, err := io.ReadFull(g.from, head[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(head[4:])
	switch {
	case binary.LittleEndian.Uint32(head[:]) != continuation:
		return errors.New("has no message where one begins")
	case size == 0: // the end
		g.ready = head[:]
		return nil
	case size > mostMetadata:
		return fmt.Errorf("has a message with %d bytes of metadata", size)
	}
	metadata := make([]byte, size)
	if _, err := io.ReadFull(g.from, metadata); err != nil {
		return err
	}
	g.ready = append(head[:], metadata...)
	return g.checkMessage(metadata)
}

// checkMessage refuses a message that is not a batch of rows as a Writer writes it. It panics at invalid metadata.
func (g *guard) checkMessage(metadata []byte) error {
	message := flatbuffers.Table{Bytes: metadata, Pos: flatbuffers.GetUOffsetT(metadata)}
	g.body = message.GetInt64Slot(slotBody, 0)
	header := message.Offset(slotHeader)
	switch {
	case message.GetByteSlot(slotType, 0) != isBatch || header == 0:
		return errors.New("has a message that is not a batch of rows")
	case message.Offset(slotCustom) != 0:
		return errors.New("has a batch with metadata of its own")
	case g.body < 0 || g.body > mostBody:
		return fmt.Errorf("has a batch of %d bytes, more than %d", g.body, mostBody)
	}
	var batch flatbuffers.Table
	message.Union(&batch, flatbuffers.UOffsetT(header))
	if batch.Offset(slotCodec) != 0 {
		return errors.New("has compressed batches, which relabel does not write")
	}
	return nil
}
