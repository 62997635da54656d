package arrow

// message is a message with a batch of rows as a Writer writes it: the length of its metadata, and the metadata, a
// FlatBuffer of two tables and two vectors.
type message struct {
	Continuation, Size uint32
	Root               uint32 // each of these is the distance from itself to what it points to
	_                  uint32
	Fields             [6]uint16 // of Message: sizes, then places of version, kind, header and body
	ToFields           int32
	Body               int64 // bytes
	Header             uint32
	_                  [3]byte
	Kind               byte
	Version            uint16
	BatchFields        [5]uint16 // of RecordBatch: sizes, then places of rows, nodes and buffers
	ToBatchFields      int32
	ToBuffers, ToNodes uint32
	Rows               int64
	_                  uint32
	BufferCount        uint32
	Buffers            [batchBuffers]buffer
	_                  uint32
	NodeCount          uint32
	Nodes              [batchNodes]node
}

// message describes the rows since the last batch.
func (e *encoder) message() message {
	m := message{
		Continuation:  continuation,
		Size:          376,
		Root:          20,
		Fields:        [6]uint16{12, 22, 20, 19, 12, 4},
		ToFields:      12,
		Header:        20,
		Kind:          isBatch,
		Version:       4, // V5
		BatchFields:   [5]uint16{10, 24, 12, 8, 4},
		ToBatchFields: 10,
		ToBuffers:     20,
		ToNodes:       216,
		Rows:          int64(e.rows),
		BufferCount:   batchBuffers,
		NodeCount:     batchNodes,
	}
	for i, c := range e.columns {
		m.Nodes[2*i].Length = int64(e.rows)
		m.Nodes[2*i+1].Length = int64(len(c.values) / widths[i])
		for k, b := range [][]byte{nil, c.offsets, nil, c.values} {
			m.Buffers[4*i+k] = buffer{m.Body, int64(len(b))}
			m.Body += int64(aligned(len(b)))
		}
	}
	return m
}
