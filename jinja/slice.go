package jinja

// slice is Python's v[start:stop:step].
func slice(r *run, v Value, bounds [3]Value) (Value, error) {
	n, err := lengthOf(v)
	if err != nil {
		return nil, faultf("a slice of a %s is not supported", typeName(v))
	}
	start, step, count, err := sliceRange(bounds, n)
	if err != nil {
		return nil, err
	}
	if err := r.built(count); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *List, *tuple:
		items, _ := itemsOf(v)
		return likeItems(v, pick(items, start, step, count)), r.built(16 * count)
	case string:
		return sliceText(v, start, step, count), r.looked(len(v))
	case markup:
		return markup(sliceText(string(v), start, step, count)), r.looked(len(v))
	case *undefined:
		return nil, faultf("%s", v.why)
	}
	return nil, faultf("a slice of a %s is not supported", typeName(v))
}

// sliceEnds is Python's slice.indices.
func sliceEnds(bounds [3]Value, n int) (start, stop, step int, err error) {
	step = 1
	var given [3]int
	for i, b := range bounds {
		if b == nil {
			continue
		}
		if big, ok := toBig(b); ok {
			limit := int64(n) + 2
			v, fits := toInt(fromBig(big))
			switch {
			case i == 2 && fits:
				limit = max(limit, 1)
				v = min(max(v, -limit), limit)
			case fits:
				v = min(max(v, -limit), limit)
			case big.Sign() < 0:
				v = -limit
			default:
				v = limit
			}
			given[i] = int(v)
			continue
		}
		return 0, 0, 0, faultf("a slice bound that is not an integer is not supported")
	}
	if bounds[2] != nil {
		if step = given[2]; step == 0 {
			return 0, 0, 0, faultf("slice step cannot be zero")
		}
	}
	low, high := 0, n
	start, stop = 0, n
	if step < 0 {
		low, high = -1, n-1
		start, stop = n-1, -1
	}
	within := func(v int) int {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	if bounds[0] != nil {
		start = within(given[0])
	}
	if bounds[1] != nil {
		stop = within(given[1])
	}
	return start, stop, step, nil
}

// sliceRange returns the first position of a slice of n items, its step and its size.
func sliceRange(bounds [3]Value, n int) (start, step, count int, err error) {
	start, stop, step, err := sliceEnds(bounds, n)
	if err != nil {
		return 0, 0, 0, err
	}
	return start, step, int(span{int64(start), int64(stop), int64(step)}.len()), nil
}

func pick[T any](items []T, start, step, count int) []T {
	out := make([]T, count)
	for i := range out {
		out[i] = items[start+i*step]
	}
	return out
}

func sliceText(s string, start, step, count int) string {
	switch {
	case isASCII(s) && step == 1:
		return s[start : start+count]
	case isASCII(s):
		return string(pick([]byte(s), start, step, count))
	}
	return fromRunes(pick(runes(s), start, step, count))
}
