package relabel

import (
	"strconv"
	"strings"
)

// VerifyPolicy says which trajectories of an iteration are verified: all, none, or sample:N.
type VerifyPolicy string

// The policies without a number. An evaluation always verifies all.
const (
	VerifyAll  VerifyPolicy = "all"
	VerifyNone VerifyPolicy = "none"
)

// sampleVerified begins the policy that verifies N trajectories of each iteration.
const sampleVerified = "sample:"

// mostVerified bounds N.
const mostVerified = 999_999

// Count returns how many of n trajectories are verified. CodeInvalid for an unknown policy.
func (v VerifyPolicy) Count(n int) (int, error) {
	switch {
	case v == VerifyAll || v == "":
		return n, nil
	case v == VerifyNone:
		return 0, nil
	}
	text, sampled := strings.CutPrefix(string(v), sampleVerified)
	drawn, err := strconv.Atoi(text)
	if !sampled || err != nil || drawn < 1 || drawn > mostVerified || text != strconv.Itoa(drawn) {
		return 0, Errorf(CodeInvalid, "is %.40q; give all, none, or sample:N with N from 1 to %d", string(v), mostVerified).On("verify")
	}
	return min(drawn, n), nil
}
