package tokenizer

import "unicode/utf8"

// runeTable maps code points to values, by blocks of 256.
type runeTable[V comparable] struct {
	block  []uint16
	blocks [][256]V
}

// newRuneTable returns a table of the values of all code points. Equal blocks are stored once.
func newRuneTable[V comparable](flat []V) runeTable[V] {
	t := runeTable[V]{block: make([]uint16, (utf8.MaxRune+1)>>8)}
	known := map[[256]V]uint16{}
	for i := range t.block {
		b := [256]V(flat[i<<8 : (i+1)<<8])
		n, ok := known[b]
		if !ok {
			n = uint16(len(t.blocks))
			known[b] = n
			t.blocks = append(t.blocks, b)
		}
		t.block[i] = n
	}
	return t
}

func (t *runeTable[V]) at(r rune) V { return t.blocks[t.block[r>>8]][r&0xff] }
