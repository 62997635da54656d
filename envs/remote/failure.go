package remote

import (
	"errors"
	"fmt"
	"io/fs"

	"relabel"
	"relabel/envs"
	"relabel/envs/wire"
)

// failures maps the faults of file operations to a code and a wrapped error.
var failures = map[wire.Fault]struct {
	code  relabel.Code
	wraps error
}{
	wire.FaultNotExist:     {relabel.CodeNotFound, fs.ErrNotExist},
	wire.FaultPermission:   {relabel.CodeInvalid, fs.ErrPermission},
	wire.FaultNotRegular:   {relabel.CodeInvalid, envs.ErrNotRegular},
	wire.FaultNotDirectory: {relabel.CodeInvalid, envs.ErrNotDirectory},
	wire.FaultPath:         {relabel.CodeInvalid, fs.ErrInvalid},
	wire.FaultRepository:   {relabel.CodeEnvironment, envs.ErrNoRepository},
	wire.FaultTooLarge:     {relabel.CodeInvalid, envs.ErrTooLarge},
}

// failure is the error of a response, nil for a success. A fault that is not about the request's path
// is CodeEnvironment.
func failure(r wire.Response, path string) error {
	if r.Fault == "" {
		return nil
	}
	if r.Fault == wire.FaultDisk {
		return relabel.Errorf(relabel.CodeEnvironment, "the sandbox's disk is full").Because(errors.New(r.Message))
	}
	if r.Fault == wire.FaultDiskLimit {
		return relabel.Errorf(relabel.CodeDisk, "%s", r.Message)
	}
	f, known := failures[r.Fault]
	if !known {
		return relabel.Errorf(relabel.CodeEnvironment, "the sandbox failed").Because(errors.New(r.Message))
	}
	if path == "" {
		return relabel.Errorf(f.code, "%v", f.wraps).Because(fmt.Errorf("%w: %s", f.wraps, r.Message))
	}
	return relabel.Errorf(f.code, "%s", path).Because(f.wraps)
}
