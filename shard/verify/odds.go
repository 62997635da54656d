package verify

import (
	"maps"
	"slices"
)

// odds collects values that should be the same in the whole export and finds those that
// deviate.
type odds struct {
	values map[string]*oddValue
}

// oddValue is a value with its first place.
type oddValue struct {
	count           int
	file, row, what string
	number          int
}

// mostOdds limits the number of values kept: if there are that many, something else is wrong.
const mostOdds = 1000

// add counts a value of a row's part.
func (o *odds) add(value, file, row, what string, number int) {
	if o.values == nil {
		o.values = map[string]*oddValue{}
	}
	v := o.values[value]
	if v == nil && len(o.values) < mostOdds {
		v = &oddValue{file: file, row: row, what: what, number: number}
		o.values[value] = v
	}
	if v != nil {
		v.count++
	}
}

// rest returns all values except the most frequent one, or all of them if there are several most
// frequent ones.
func (o *odds) rest() (odd []*oddValue) {
	most, times := 0, 0
	for _, v := range o.values {
		switch {
		case v.count > most:
			most, times = v.count, 1
		case v.count == most:
			times++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.values)) {
		if v := o.values[key]; v.count < most || times > 1 {
			odd = append(odd, v)
		}
	}
	return odd
}
