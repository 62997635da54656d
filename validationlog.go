package relabel

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// PackLog packs a log of a validation in gzip. Of a log over limit bytes it keeps the beginning and the end, with a line
// that counts the bytes between them.
func PackLog(log []byte, limit int) []byte {
	if len(log) > limit {
		half := max(limit/2-100, 0)
		log = fmt.Appendf(nil, "%s\n[relabel: %d bytes are left out here]\n%s", log[:half], len(log)-2*half, log[len(log)-half:])
	}
	if len(log) == 0 {
		return nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(log) // a buffer takes all
	_ = w.Close()
	return packed.Bytes()
}

// UnpackLog unpacks a log that PackLog packed, at most MaxValidationLog bytes of it.
func UnpackLog(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, MaxValidationLog))
}
