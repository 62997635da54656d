package texttools

import (
	"regexp"
	"slices"
	"strings"
)

// tagged matches a tag in text, or its escape of any depth.
var tagged = regexp.MustCompile(`(?:<|&(?:amp;)*lt;)/?(?:function|parameter|tool_call|think)[=>]`)

// Every tag contains one of tagNames. Most texts contain none and need no regular expression.
var tagNames = []string{"function=", "function>", "parameter=", "parameter>", "tool_call>", "tool_call=", "think>", "think="}

func hasTag(text string) bool {
	return slices.ContainsFunc(tagNames, func(name string) bool { return strings.Contains(text, name) })
}

// escape changes text so that it contains no tag: the "<" of a tag becomes "&lt;", and an escape of a tag
// gets another "amp;". It does not change other text, such as other "&lt;".
func escape(text string) string {
	if !hasTag(text) {
		return text
	}
	return tagged.ReplaceAllStringFunc(text, func(tag string) string {
		if tag[0] == '<' {
			return "&lt;" + tag[1:]
		}
		return "&amp;" + tag[1:]
	})
}

// unescape is the inverse of escape.
func unescape(text string) string {
	if !hasTag(text) {
		return text
	}
	return tagged.ReplaceAllStringFunc(text, func(tag string) string {
		switch {
		case tag[0] == '<':
			return tag
		case strings.HasPrefix(tag, "&lt;"):
			return "<" + tag[len("&lt;"):]
		}
		return "&" + tag[len("&amp;"):]
	})
}
