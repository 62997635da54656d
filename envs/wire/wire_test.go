package wire_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel/envs/wire"
)

// Who changes what goes over the line changes Version, Mark, and this.
func TestTheVersionAndItsMarkGoWithTheMessages(t *testing.T) {
	if want := fmt.Sprintf("relabel-sandboxd-protocol-%d.", wire.Version); wire.Mark != want {
		t.Errorf("the mark is %q, not %q", wire.Mark, want)
	}
	shape := ""
	for _, message := range []any{wire.Hello{}, wire.Request{}, wire.Response{}, wire.File{}} {
		of := reflect.TypeOf(message)
		for i := range of.NumField() {
			shape += fmt.Sprintln(of.Field(i).Type, of.Field(i).Tag.Get("json"))
		}
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(shape))); !strings.HasPrefix(sum, messages) {
		t.Errorf("the messages are others (%s) than those of version %d: raise it", sum[:8], wire.Version)
	}
}

// messages is the hash of what the messages of this Version are made of.
const messages = "4ab27df0"

// readAll reads messages until the end, their bodies and heads by id.
func readAll(r *wire.Reader) (bodies map[uint32][]byte, heads map[uint32]wire.Response, err error) {
	bodies, heads = map[uint32][]byte{}, map[uint32]wire.Response{}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return bodies, heads, nil
		}
		if err != nil {
			return bodies, heads, err
		}
		switch h.Kind {
		case wire.KindData, wire.KindPacked:
			if bodies[h.ID], err = r.Append(bodies[h.ID], h); err != nil {
				return bodies, heads, err
			}
		default:
			var head wire.Response
			if err := r.Decode(h, &head); err != nil {
				return bodies, heads, err
			}
			heads[h.ID] = head
		}
	}
}

func TestInterleavedMessagesArriveComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		w := wire.NewWriter(&stream)
		want := map[uint32][]byte{}
		parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []byte {
			return bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(0, 3*wire.MaxFrame).Draw(t, "length"))
		}), 0, 6).Draw(t, "parts")
		for _, part := range parts {
			id := rapid.Uint32Range(0, 2).Draw(t, "id")
			want[id] = append(want[id], part...)
			if err := w.Data(id, part); err != nil {
				t.Fatal(err)
			}
		}
		for id, body := range want {
			if err := w.Head(id, wire.Response{Size: int64(len(body))}); err != nil {
				t.Fatal(err)
			}
		}
		bodies, heads, err := readAll(wire.NewReader(&stream))
		if err != nil {
			t.Fatal(err)
		}
		for id, body := range want {
			if !bytes.Equal(bodies[id], body) || heads[id].Size != int64(len(body)) {
				t.Fatalf("message %d: %d bytes of %d", id, len(bodies[id]), len(body))
			}
		}
	})
}

func TestFramesBeyondTheLimitsAreRefused(t *testing.T) {
	for name, frame := range map[string][]byte{
		"too long":     {0xff, 0xff, 0xff, 0xff, byte(wire.KindData), 0, 0, 0, 0},
		"unknown kind": {0, 0, 0, 0, 99, 0, 0, 0, 0},
		"no kind":      {0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if _, err := wire.NewReader(bytes.NewReader(frame)).Next(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	full := make([]byte, wire.MaxBody)
	if _, err := wire.NewReader(bytes.NewReader([]byte{1})).Append(full, wire.Header{Kind: wire.KindData, Len: 1}); err == nil {
		t.Error("a body beyond the limit was taken")
	}
	if err := wire.NewWriter(io.Discard).Head(1, string(make([]byte, wire.MaxFrame))); err == nil {
		t.Error("a head beyond the limit was written")
	}
}

func FuzzReaderTakesAnything(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, byte(wire.KindHead), 0, 0, 0, 1, '{', '}'})
	f.Add([]byte{0, 0, 0, 1, byte(wire.KindData), 0, 0, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, stream []byte) {
		bodies, _, err := readAll(wire.NewReader(bytes.NewReader(stream)))
		if err != nil {
			return
		}
		n := 0
		for _, body := range bodies {
			n += len(body)
		}
		if n > len(stream) {
			t.Errorf("%d bytes out of %d", n, len(stream))
		}
	})
}
