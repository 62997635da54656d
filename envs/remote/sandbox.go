package remote

import (
	"context"
	"encoding/json"
	"io/fs"

	"relabel"
	"relabel/envs"
	"relabel/envs/wire"
)

// Run implements envs.Sandbox.
func (s *Session) Run(ctx context.Context, cmd envs.Command) (envs.Result, error) {
	if cmd.MaxOutput <= 0 {
		cmd.MaxOutput = envs.DefaultMaxOutput
	}
	head, body, err := s.call(ctx, wire.Request{
		Op: wire.OpRun, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env,
		Quiet: cmd.Quiet, Timeout: cmd.Timeout, MaxOutput: min(cmd.MaxOutput, wire.MaxBody/2), // the end may be sent twice
	}, cmd.Stdin)
	if err != nil {
		return envs.Result{}, err
	}
	result := envs.Result{Output: body, Dropped: head.Dropped, Exit: head.Exit, Ended: envs.Ended(head.Ended), Elapsed: head.Elapsed, Memory: head.Memory}
	if head.Dropped > 0 {
		kept, streamed := min(head.Kept, len(body)), min(head.Streamed, len(body))
		result.Output, result.Tail = body[:kept:kept], body[streamed:]
	}
	return result, nil
}

// ReadFile implements envs.Sandbox.
func (s *Session) ReadFile(ctx context.Context, path string, limit int64) ([]byte, int64, error) {
	head, body, err := s.call(ctx, wire.Request{Op: wire.OpRead, Path: path, Limit: limit}, nil)
	return body, head.Size, err
}

// WriteFile implements envs.Sandbox.
func (s *Session) WriteFile(ctx context.Context, path string, data []byte, mode fs.FileMode) error {
	if len(data) > wire.MaxBody {
		return relabel.Errorf(relabel.CodeInvalid, "%s: the file has %d bytes, more than the limit of %d", path, len(data), wire.MaxBody)
	}
	_, _, err := s.call(ctx, wire.Request{Op: wire.OpWrite, Path: path, Mode: mode}, data)
	return err
}

// Stat implements envs.Sandbox.
func (s *Session) Stat(ctx context.Context, path string) (envs.FileInfo, error) {
	head, _, err := s.call(ctx, wire.Request{Op: wire.OpStat, Path: path}, nil)
	if err != nil || head.File == nil {
		return envs.FileInfo{}, err
	}
	return envs.FileInfo(*head.File), nil
}

// List implements envs.Sandbox.
func (s *Session) List(ctx context.Context, dir string, depth, limit int) ([]envs.FileInfo, bool, error) {
	head, body, err := s.call(ctx, wire.Request{Op: wire.OpList, Path: dir, Depth: depth, Limit: int64(limit)}, nil)
	if err != nil {
		return nil, false, err
	}
	var entries []envs.FileInfo
	if err := json.Unmarshal(body, &entries); err != nil {
		return nil, false, relabel.Errorf(relabel.CodeEnvironment, "the sandbox sent a broken listing").Because(err)
	}
	return entries, head.More, nil
}

// Fingerprint implements envs.Sandbox.
func (s *Session) Fingerprint(ctx context.Context) (string, error) {
	head, _, err := s.call(ctx, wire.Request{Op: wire.OpFingerprint}, nil)
	return head.Digest, err
}

// EndCommands implements envs.Sandbox.
func (s *Session) EndCommands(ctx context.Context) error {
	_, _, err := s.call(ctx, wire.Request{Op: wire.OpEnd}, nil)
	return err
}

// Patch implements envs.Sandbox.
func (s *Session) Patch(ctx context.Context, base string) (envs.Patch, error) {
	head, body, err := s.call(ctx, wire.Request{Op: wire.OpPatch, Base: base}, nil)
	if err != nil {
		return envs.Patch{}, err
	}
	return envs.Patch{Diff: body, Dropped: head.Binary}, nil
}
