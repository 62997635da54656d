package main

import (
	"github.com/docker/go-units"

	"relabel"
)

// size is a number of bytes on the command line, e.g. 5GiB.
type size int64

// UnmarshalText reads a size: a number with or without a unit, all of them powers of 1024.
func (s *size) UnmarshalText(text []byte) error {
	n, err := units.RAMInBytes(string(text))
	if err != nil || n < 0 {
		return relabel.Errorf(relabel.CodeInvalid, "%q is no size: write a number and a unit, as in 5GiB", text)
	}
	*s = size(n)
	return nil
}
