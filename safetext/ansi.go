package safetext

import (
	"strconv"
	"strings"
)

// Colours are the only control sequences that take effect. A library that emulates a terminal,
// such as terminal-to-html, would let a text erase or overwrite parts of itself.

// attributes are the SGR codes that set an attribute, with its class in 3-language.css and the
// code that clears it. Concealed and blinking text is shown normally.
var attributes = []struct {
	code, clear int
	class       string
}{{1, 22, "a-b"}, {2, 22, "a-d"}, {3, 23, "a-i"}, {4, 24, "a-u"}, {9, 29, "a-s"}, {7, 27, "a-r"}}

// style is the current text style of a terminal.
type style struct {
	set         [10]bool // attributes by code
	front, back int      // 1 + one of eight colors; 0: the terminal's own
}

// isColor reports whether a control sequence changes how text looks and nothing else.
func isColor(sequence string) bool {
	return strings.HasPrefix(sequence, "\x1b[") && sequence[len(sequence)-1] == 'm' && strings.Trim(sequence[2:len(sequence)-1], "0123456789;:") == ""
}

// apply changes the style by a sequence.
func (s *style) apply(sequence string) {
	numbers := strings.Split(sequence[2:len(sequence)-1], ";")
	for len(numbers) > 0 {
		first, below, is := strings.Cut(numbers[0], ":")
		code, _ := strconv.Atoi(first) // "" is 0, which resets; a number out of range changes nothing
		numbers = numbers[1:]
		if code != 38 && code != 48 {
			s.change(code)
			continue
		}
		of := numbers
		if is {
			of = strings.Split(below, ":")
		}
		c, used := wideColor(of)
		if !is {
			numbers = numbers[used:]
		}
		if c >= 0 && code == 38 {
			s.front = 1 + c
		} else if c >= 0 {
			s.back = 1 + c
		}
	}
}

// change changes the style by a code other than that of a larger palette.
func (s *style) change(code int) {
	for _, a := range attributes {
		if code == a.code || code == a.clear {
			s.set[a.code] = code == a.code
		}
	}
	switch {
	case code == 0:
		*s = style{}
	case code >= 30 && code <= 37, code >= 90 && code <= 97:
		s.front = 1 + code%10
	case code == 39:
		s.front = 0
	case code >= 40 && code <= 47, code >= 100 && code <= 107:
		s.back = 1 + code%10
	case code == 49:
		s.back = 0
	}
}

// wideColor reads a color of a larger palette, 5;N or 2;R;G;B, as the nearest of eight;
// -1 if it is not a color. used is the number of numbers read.
func wideColor(numbers []string) (color, used int) {
	at := func(i int) int {
		if i >= len(numbers) {
			return 0
		}
		n, _ := strconv.Atoi(numbers[i]) // 0 if not a number
		return min(max(n, 0), 255)
	}
	switch {
	case len(numbers) == 0:
		return -1, 0
	case numbers[0] == "5":
		return ofPalette(at(1)), min(2, len(numbers))
	case numbers[0] == "2" && len(numbers) >= 5 && numbers[1] == "": // 2::R:G:B
		return nearest(at(2), at(3), at(4)), 5
	case numbers[0] == "2":
		return nearest(at(1), at(2), at(3)), min(4, len(numbers))
	}
	return -1, 0
}

// ofPalette is the nearest of eight colors to one of 256: sixteen, a cube of six steps
// each, and greys.
func ofPalette(n int) int {
	switch {
	case n < 16:
		return n % 8
	case n < 232:
		n -= 16
		return nearest(n/36*51, n/6%6*51, n%6*51)
	}
	return nearest((n-232)*10, (n-232)*10, (n-232)*10)
}

// nearest is the one of eight colors with the same strong parts.
func nearest(r, g, b int) (color int) {
	half := max(r, g, b) / 2
	for i, part := range []int{r, g, b} {
		if half >= 32 && part > half {
			color |= 1 << i
		}
	}
	return color
}

// classes are the style's classes.
func (s style) classes() string {
	var all []string
	for _, a := range attributes {
		if s.set[a.code] {
			all = append(all, a.class)
		}
	}
	if s.front > 0 {
		all = append(all, "a-f"+strconv.Itoa(s.front-1))
	}
	if s.back > 0 {
		all = append(all, "a-g"+strconv.Itoa(s.back-1))
	}
	return strings.Join(all, " ")
}
