package store

import "strings"

// validUTF8 makes any string one that a text column can hold. It is for words about
// things (a server's model name, an error's detail); what models and tools wrote is
// kept byte for byte instead.
func validUTF8(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
}
