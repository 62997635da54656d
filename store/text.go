package store

import "strings"

// validUTF8 turns any string into one that a text column can hold. It is for names and details;
// the output of models and tools is stored byte for byte instead.
func validUTF8(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
}
