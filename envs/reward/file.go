package reward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/envs"
)

// maxReward is the size of a reward file, in bytes.
const maxReward = 64 << 10

// read reads the reward: reward.json, or else reward.txt.
func (o Outcome) read(ctx context.Context, sandbox envs.Sandbox) (Outcome, error) {
	for _, form := range []struct {
		name  string
		parse func([]byte) (float64, error)
	}{{"reward.json", parseJSON}, {"reward.txt", parseText}} {
		data, size, err := sandbox.ReadFile(ctx, path.Join(rewardDir, form.name), maxReward)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil && (errors.Is(err, envs.ErrNotRegular) || errors.Is(err, fs.ErrPermission) || errors.Is(err, envs.ErrNotDirectory) || errors.Is(err, fs.ErrInvalid)):
			return o.without("%s cannot be read: %v", form.name, err), nil
		case err != nil:
			return o, err
		case size > maxReward:
			return o.without("%s has %d bytes", form.name, size), nil
		}
		reward, err := form.parse(data)
		if err == nil && !(reward >= 0 && reward <= 1) {
			err = fmt.Errorf("the reward %v is not between 0 and 1", reward)
		}
		if err != nil {
			return o.without("%s: %v", form.name, err), nil
		}
		o.Reward, o.Reason = reward, relabel.VerdictReward
		if reward == 1 {
			o.Reason = relabel.VerdictTestsPassed
		}
		return o, nil
	}
	return o.without("the tests wrote neither reward.json nor reward.txt"), nil
}

// without is the outcome of tests without a valid reward.
func (o Outcome) without(format string, args ...any) Outcome {
	o.Reason = relabel.VerdictNoReward
	o.note(format, args...)
	return o
}

// parseText reads the number of a reward.txt.
func parseText(data []byte) (float64, error) {
	number, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		return 0, fmt.Errorf("%.40q is not a number", data)
	}
	return number, nil
}

// parseJSON reads a reward.json: a number, or an object of numbers, of which "reward" is the reward, or the only one.
func parseJSON(data []byte) (float64, error) {
	errNoNumbers := errors.New("is neither a number nor an object of numbers")
	var number *float64 // nil of null
	if json.Unmarshal(data, &number) == nil && number != nil {
		return *number, nil
	}
	var rewards map[string]*float64
	if err := json.Unmarshal(data, &rewards); err != nil || rewards == nil {
		return 0, errNoNumbers
	}
	for _, number := range rewards {
		if number == nil {
			return 0, errNoNumbers
		}
	}
	if number, there := rewards["reward"]; there {
		return *number, nil
	}
	if len(rewards) == 1 {
		for _, number := range rewards {
			return *number, nil
		}
	}
	return 0, fmt.Errorf("has %d rewards, %q, and none is named reward", len(rewards), slices.Sorted(maps.Keys(rewards)))
}
