package parquet

import (
	"runtime"
	"sync"

	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// codec compresses all files of the process with one zstd encoder. parquet-go's codec creates an
// encoder with a window of 16 MiB for each file and retains unused ones.
type codec struct{ zstd.Codec }

// zstdEncoder returns the one encoder, which compresses as many pages at a time as there are processor cores.
var zstdEncoder = sync.OnceValue(func() *kzstd.Encoder {
	e, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), kzstd.WithLowerEncoderMem(true),
		kzstd.WithEncoderLevel(kzstd.SpeedDefault), kzstd.WithZeroFrames(true), kzstd.WithEncoderCRC(false))
	if err != nil { // the options are valid
		panic(err)
	}
	return e
})

// Encode compresses a page.
func (*codec) Encode(dst, src []byte) ([]byte, error) {
	return zstdEncoder().EncodeAll(src, dst[:0]), nil
}
