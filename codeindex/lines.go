package codeindex

import "strings"

// Lines splits a source into the lines that the spans of its language count, without their ends and
// with U+FFFD for what is not UTF-8.
func Lines(language Language, source []byte) []string {
	text := strings.ToValidUTF8(strings.TrimPrefix(string(source), "\uFEFF"), "\uFFFD")
	switch language {
	case Python, Java, PHP:
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	case JavaScript, TypeScript:
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	default:
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
