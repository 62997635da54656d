package tasks

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literalTests reads a list of test names as tests does, also one that is written as Python writes a list of strings.
func (l *taskLine) literalTests(field string) []string {
	return distinct(l.literalList(field, "a list of test names", "the name of a test"))
}

// literalList is list, also for a text as Python writes a list of strings.
func (l *taskLine) literalList(field, what, item string) []string {
	if lower := strings.ToLower(field); !l.has(field) && l.has(lower) {
		field = lower
	}
	text := strings.TrimSpace(l.quietText(field))
	if text == "" || json.Valid([]byte(text)) {
		return l.list(field, what, item)
	}
	l.used[field] = true
	items, err := pythonList(text)
	if err != nil {
		l.refuse(field, "is neither %s nor a string that holds one: %s", what, err)
		return nil
	}
	for i := range items {
		if items[i] = l.checkText(field, l.fields[field], items[i]); strings.TrimSpace(items[i]) == "" && !l.wrong(field) {
			l.refuse(field, "item %d is not %s", i+1, item)
		}
	}
	return items
}

var errLiteral = errors.New("it is not a list of strings as Python writes it")

// pythonList reads a list of strings as Python's repr writes it: ['a', "it's"].
func pythonList(text string) ([]string, error) {
	text, ok := strings.CutPrefix(text, "[")
	if !ok {
		return nil, errLiteral
	}
	items := []string{}
	for {
		text = strings.TrimLeft(text, " \n\t\r,")
		if text == "" {
			return nil, errLiteral
		}
		if text[0] == ']' {
			if strings.TrimSpace(text[1:]) != "" {
				return nil, errLiteral
			}
			return items, nil
		}
		item, rest, err := pythonString(text)
		if err != nil {
			return nil, err
		}
		items, text = append(items, item), rest
	}
}

// pythonString reads the string that text begins with.
func pythonString(text string) (value, rest string, err error) {
	quote := text[0]
	if quote != '\'' && quote != '"' {
		return "", "", errLiteral
	}
	var b strings.Builder
	for text = text[1:]; text != ""; {
		switch c := text[0]; {
		case c == quote:
			return b.String(), text[1:], nil
		case c == '\\' && len(text) > 1 && (text[1] == '\'' || text[1] == '"'):
			b.WriteByte(text[1])
			text = text[2:]
		case c == '\\':
			r, _, tail, err := strconv.UnquoteChar(text, quote)
			if err != nil || !utf8.ValidRune(r) {
				return "", "", errLiteral
			}
			b.WriteRune(r)
			text = tail
		default:
			b.WriteByte(c)
			text = text[1:]
		}
	}
	return "", "", errLiteral
}
