package safetext

import (
	"strconv"
	"strings"
)

// style is the current text style of a terminal. Concealed and blinking text is shown like
// any other: nothing is hidden.
type style struct {
	bold, dim, italic, underline, struck, reversed bool
	front, back                                    int // 1 + one of eight colors; 0: the terminal's own
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
		code, _ := strconv.Atoi(first) // "" is 0, which resets; what is too large changes nothing
		numbers = numbers[1:]
		switch {
		case code == 38 || code == 48:
			of := strings.Split(below, ":")
			if !is {
				of = numbers
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
		default:
			s.set(code)
		}
	}
}

func (s *style) set(code int) {
	switch {
	case code == 0:
		*s = style{}
	case code == 1:
		s.bold = true
	case code == 2:
		s.dim = true
	case code == 3:
		s.italic = true
	case code == 4:
		s.underline = true
	case code == 7:
		s.reversed = true
	case code == 9:
		s.struck = true
	case code == 22:
		s.bold, s.dim = false, false
	case code == 23:
		s.italic = false
	case code == 24:
		s.underline = false
	case code == 27:
		s.reversed = false
	case code == 29:
		s.struck = false
	case code >= 30 && code <= 37:
		s.front = 1 + code - 30
	case code == 39:
		s.front = 0
	case code >= 40 && code <= 47:
		s.back = 1 + code - 40
	case code == 49:
		s.back = 0
	case code >= 90 && code <= 97:
		s.front = 1 + code - 90
	case code >= 100 && code <= 107:
		s.back = 1 + code - 100
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
func nearest(r, g, b int) int {
	half := max(r, g, b) / 2
	if half < 32 {
		return 0
	}
	c := 0
	for i, part := range []int{r, g, b} {
		if part > half {
			c |= 1 << i
		}
	}
	return c
}

// classes are the style's classes in 3-language.css.
func (s style) classes() string {
	if s == (style{}) {
		return ""
	}
	var all []string
	for _, of := range []struct {
		is    bool
		class string
	}{{s.bold, "a-b"}, {s.dim, "a-d"}, {s.italic, "a-i"}, {s.underline, "a-u"}, {s.struck, "a-s"}, {s.reversed, "a-r"}} {
		if of.is {
			all = append(all, of.class)
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
