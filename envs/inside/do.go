package inside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"relabel/envs/wire"
)

// do answers one request; emit receives the response's body.
func (s *Server) do(ctx context.Context, req wire.Request, body []byte, emit func([]byte)) wire.Response {
	if req.Op == wire.OpReady {
		return wire.Response{}
	}
	<-s.taken
	switch req.Op {
	case wire.OpRun:
		return s.run(ctx, req, body, emit)
	case wire.OpRead, wire.OpWrite, wire.OpStat, wire.OpList:
		var resp wire.Response
		var err error
		s.apart.AsCommands(func() { resp, err = s.doFile(req, body, emit) })
		if err != nil {
			return s.failed(err)
		}
		return resp
	case wire.OpFingerprint:
		digest, err := s.fingerprint(ctx)
		if s.lookAtDisk() { // ended commands may have left the tree in any state
			return s.disk.fault()
		}
		if err != nil {
			return s.failed(err)
		}
		return wire.Response{Digest: digest}
	case wire.OpEnd:
		if err := s.processes.EndAllAndWait(ctx); err != nil {
			return s.failed(err)
		}
		return wire.Response{}
	case wire.OpPatch:
		diff, binary, err := s.patch(ctx, req.Base)
		if err != nil {
			return s.failed(err)
		}
		emit(diff)
		return wire.Response{Binary: binary}
	}
	return wire.Response{Fault: wire.FaultOther, Message: fmt.Sprintf("unknown operation %q", req.Op)}
}

// failed is the answer to a failed request. If the disk is full, it reports whether commands filled it.
func (s *Server) failed(err error) wire.Response {
	err = s.orDiskFull(err)
	if errors.Is(err, errDiskFull) && s.filledDisk() {
		return s.disk.fault()
	}
	return faultOf(err)
}

// doFile answers a file operation, with the rights of commands.
func (s *Server) doFile(req wire.Request, body []byte, emit func([]byte)) (wire.Response, error) {
	switch req.Op {
	case wire.OpRead:
		data, size, err := s.readFile(req.Path, req.Limit)
		if err == nil {
			emit(data)
		}
		return wire.Response{Size: size}, err
	case wire.OpWrite:
		return wire.Response{}, s.writeFile(req.Path, body, req.Mode)
	case wire.OpStat:
		file, err := s.stat(req.Path)
		return wire.Response{File: file}, err
	}
	// The listing is the body, because it may be longer than a head.
	files, more, err := s.list(req.Path, req.Depth, int(req.Limit))
	if err != nil {
		return wire.Response{}, err
	}
	listing, err := json.Marshal(files)
	if err == nil {
		emit(listing)
	}
	return wire.Response{More: more}, err
}
