package inject

import (
	"math/rand/v2"
	"slices"
)

// draw chooses bugs: one in each function in a random order, then a second one, and so on until there are
// count of them or perFunction in each. In a function it takes a kind that was chosen least so far, and never
// changes the same code twice.
func draw(all []Mutation, count, perFunction int, seed int64) []Mutation {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	var groups [][]Mutation
	at := map[string]int{}
	for _, m := range all {
		i, known := at[m.group()]
		if !known {
			i = len(groups)
			at[m.group()] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	for _, g := range groups {
		random.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
	}
	var drawn []Mutation
	kinds := map[Kind]int{}
	for range perFunction {
		for i, g := range groups {
			if len(drawn) == count {
				return drawn
			}
			if len(g) == 0 {
				continue
			}
			m := slices.MinFunc(g, func(a, b Mutation) int { return kinds[a.Kind] - kinds[b.Kind] })
			kinds[m.Kind]++
			drawn = append(drawn, m)
			groups[i] = slices.DeleteFunc(g, m.overlaps)
		}
	}
	return drawn
}

// overlaps reports whether two bugs of a file change the same code.
func (m Mutation) overlaps(other Mutation) bool {
	for _, a := range m.Edits {
		for _, b := range other.Edits {
			if a.Start < b.End && b.Start < a.End {
				return true
			}
		}
	}
	return false
}
