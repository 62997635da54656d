package tasks

import (
	"strings"

	"relabel"
)

// HeldOut returns the chosen instance ids as a set. If one of them is not among ids, it returns a relabel.CodeInvalid
// error that names such ids.
func HeldOut(ids, chosen []string) (map[string]bool, error) {
	if len(chosen) == 0 {
		return nil, nil
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	heldOut := make(map[string]bool, len(chosen))
	var unknown []string
	for _, id := range chosen {
		if heldOut[id] = true; !known[id] {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no task is named %s", strings.Join(unknown[:min(20, len(unknown))], ", ")).On("held_out")
	}
	return heldOut, nil
}
