package shard

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// unsafeCharacters are the characters, by scheme, that servers replace or refuse in the names of objects.
var unsafeCharacters = map[string]*regexp.Regexp{
	schemeS3:    regexp.MustCompile(`^[\x00-\x1f]`),
	schemeAzure: regexp.MustCompile(`^[\x00-\x1f\x7f"#%?\\]`),
}

// replacement matches what storedName writes for a character.
var replacement = regexp.MustCompile(`^__0x([^_]*)__`)

// storedName returns the name of an object as a store has it. relabel refuses new exports whose prefix it would change,
// but earlier versions wrote such exports, with __0xHEX__ for each unsafe character.
func storedName(scheme, name string) string {
	var stored strings.Builder
	for i, c := range name {
		if isUnsafe(scheme, name[:i], name[i:]) {
			fmt.Fprintf(&stored, "__%#x__", c)
		} else {
			stored.WriteRune(c)
		}
	}
	return stored.String()
}

// isUnsafe reports whether the first character of rest is replaced: an unsafe one, the slash of "../", or the start of
// what looks like a replacement.
func isUnsafe(scheme, before, rest string) bool {
	if unsafeCharacters[scheme].MatchString(rest) || strings.HasPrefix(rest, "/") && strings.HasSuffix(before, "..") {
		return true
	}
	hex := replacement.FindStringSubmatch(rest)
	if hex == nil {
		return false
	}
	_, err := strconv.ParseInt(hex[1], 16, 32)
	return err == nil
}
