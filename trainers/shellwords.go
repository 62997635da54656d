package trainers

import "strings"

// shellWords splits a script into words as a shell does, without expanding anything. Comments are left out.
func shellWords(text string) (words []string) {
	var word strings.Builder
	begun := false
	quote := rune(0)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(runes):
			if i++; runes[i] != '\n' {
				word.WriteRune(runes[i])
				begun = true
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == '#' && !begun:
			for i+1 < len(runes) && runes[i+1] != '\n' {
				i++
			}
		case strings.ContainsRune(" \t\r\n;&|", c):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// arguments reads --name value, --name=value and name=value. A name without a value is true; of several values the
// last one counts.
func arguments(words []string) settings {
	s := settings{}
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "--")
		name, value, has := strings.Cut(name, "=")
		if !isFlag && !has {
			continue
		}
		if !has {
			value = "true"
			for i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
				i++
				value = words[i]
			}
		}
		s[strings.ReplaceAll(name, "-", "_")] = value
	}
	return s
}
