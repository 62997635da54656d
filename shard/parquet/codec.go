package parquet

import (
	"sync"

	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// codec writes zstd for all files of the process. parquet-go's own makes an encoder, whose
// window takes 16 MiB, for each file anew, and keeps those that nobody will ask for again.
type codec struct{ zstd.Codec }

// encoder returns the one encoder, which compresses one page at a time.
var encoder = sync.OnceValue(func() *kzstd.Encoder {
	e, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(1), kzstd.WithLowerEncoderMem(true),
		kzstd.WithEncoderLevel(kzstd.SpeedDefault), kzstd.WithZeroFrames(true), kzstd.WithEncoderCRC(false))
	if err != nil { // the options are such as it knows
		panic(err)
	}
	return e
})

// Encode compresses a page.
func (*codec) Encode(dst, src []byte) ([]byte, error) { return encoder().EncodeAll(src, dst[:0]), nil }
