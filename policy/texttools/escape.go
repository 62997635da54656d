package texttools

import (
	"regexp"
	"slices"
	"strings"
)

// tagged is a tag of ours as it is in text, or an escape of one of any depth.
var tagged = regexp.MustCompile(`(?:<|&(?:amp;)*lt;)/?(?:function|parameter|tool_call|think)[=>]`)

// tagNames are what every tag has in it: most texts have none, and are not looked
// through closely.
var tagNames = []string{"function=", "function>", "parameter=", "parameter>", "tool_call>", "tool_call=", "think>", "think="}

func hasTag(text string) bool {
	return slices.ContainsFunc(tagNames, func(name string) bool { return strings.Contains(text, name) })
}

// escape writes text so that none of it is taken for a tag: the "<" of a tag becomes
// "&lt;", and what is such an escape already gets one "amp;" more. Other text, "&lt;"
// included, stays as it is.
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
