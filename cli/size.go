package cli

import (
	"github.com/docker/go-units"

	"relabel"
)

// Size is a number of bytes on the command line, for example 5GiB.
type Size int64

// UnmarshalText reads a number with or without a unit. Units are powers of 1024.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := units.RAMInBytes(string(text))
	if err != nil || n < 0 {
		return relabel.Errorf(relabel.CodeInvalid, "%q is not a size: write a number and a unit, as in 5GiB", text)
	}
	*s = Size(n)
	return nil
}
