package inside

import (
	"context"
	"encoding/json"
	"fmt"

	"relabel/envs/wire"
)

// do answers one request; emit takes the response's body.
func (s *Server) do(ctx context.Context, req wire.Request, body []byte, emit func([]byte)) wire.Response {
	switch req.Op {
	case wire.OpReady:
		return wire.Response{}
	case wire.OpRun:
		return s.run(ctx, req, body, emit)
	case wire.OpRead:
		data, size, err := s.readFile(req.Path, req.Limit)
		if err != nil {
			return faultOf(err)
		}
		emit(data)
		return wire.Response{Size: size}
	case wire.OpWrite:
		if err := s.writeFile(req.Path, body, req.Mode); err != nil {
			return faultOf(s.orDiskFull(err))
		}
		return wire.Response{}
	case wire.OpStat:
		file, err := s.stat(req.Path)
		if err != nil {
			return faultOf(err)
		}
		return wire.Response{File: file}
	case wire.OpList:
		return s.answerList(req, emit)
	case wire.OpFingerprint:
		digest, err := s.fingerprint(ctx)
		if err != nil {
			return faultOf(s.orDiskFull(err))
		}
		return wire.Response{Digest: digest}
	case wire.OpPatch:
		diff, binary, err := s.patch(ctx, req.Base)
		if err != nil {
			return faultOf(s.orDiskFull(err))
		}
		emit(diff)
		return wire.Response{Binary: binary}
	}
	return wire.Response{Fault: wire.FaultOther, Message: fmt.Sprintf("unknown operation %q", req.Op)}
}

// answerList sends a listing as the body, because it may be longer than a head.
func (s *Server) answerList(req wire.Request, emit func([]byte)) wire.Response {
	files, more, err := s.list(req.Path, req.Depth, int(req.Limit))
	if err != nil {
		return faultOf(err)
	}
	listing, err := json.Marshal(files)
	if err != nil {
		return faultOf(err)
	}
	emit(listing)
	return wire.Response{More: more}
}
