package arrow

import (
	"encoding/binary"
	"errors"
)

// errDamaged is the error of a stream whose metadata points outside of it.
var errDamaged = errors.New("is not a valid Arrow stream: a message points outside of itself")

// flat reads a FlatBuffer, whose tables and vectors lie at places that its bytes give. What lies outside of them reads
// as 0 and sets err.
type flat struct {
	bytes []byte
	err   error
}

// at returns n bytes at a place.
func (f *flat) at(place, n int) []byte {
	if place < 0 || place > len(f.bytes)-n {
		f.err = errDamaged
		return make([]byte, n)
	}
	return f.bytes[place : place+n]
}

func (f *flat) uint16(place int) int { return int(binary.LittleEndian.Uint16(f.at(place, 2))) }
func (f *flat) uint32(place int) int { return int(binary.LittleEndian.Uint32(f.at(place, 4))) }
func (f *flat) int64(place int) int64 {
	return int64(binary.LittleEndian.Uint64(f.at(place, 8)))
}

// follow returns the place to which the distance at a place points.
func (f *flat) follow(place int) int { return place + f.uint32(place) }

// field returns the place of a field of a table, and whether the table has it. The slot is the field's number in the
// table's definition.
func (f *flat) field(table, slot int) (int, bool) {
	fields := table - int(int32(f.uint32(table)))
	place := 4 + 2*slot
	if place+2 > f.uint16(fields) {
		return 0, false
	}
	distance := f.uint16(fields + place)
	return table + distance, distance != 0
}

// integer returns a field of 8 bytes, 0 if the table lacks it.
func (f *flat) integer(table, slot int) int64 {
	place, has := f.field(table, slot)
	if !has {
		return 0
	}
	return f.int64(place)
}

// vector reads a vector of count structs into the slice dst. A vector of another count sets err.
func (f *flat) vector(table, slot, count int, dst any) {
	place, has := f.field(table, slot)
	start := f.follow(place)
	if !has || f.uint32(start) != count {
		f.err = errDamaged
		return
	}
	_, _ = binary.Decode(f.at(start+4, binary.Size(dst)), binary.LittleEndian, dst) // as many bytes as it needs
}
