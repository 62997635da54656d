package web

import "fmt"

// chart is a drawing of numbers, with the same numbers as a table for who does not see it.
type chart struct {
	ID, Title string
	Note      string // what is to be known of it
	X         string // what stands on the horizontal axis
	Labels    []string
	Unit      string // of all values: "%", "tokens"; "" where there is none
	// From and To bound the vertical axis where both are given; else the values do.
	From, To *float64
	Bars     bool // stacked bars, in the order of the series; else lines
	Series   []series
}

// series is a line of a chart: a value at each of its labels, nil where there is none.
type series struct {
	Name string `json:"name"`
	// Look is whose colour and shape it has: teacher, student, label, agree, differ, failed,
	// infra, passed, limit (out of time), context (out of it), ink or dim.
	Look   string     `json:"look"`
	Values []*float64 `json:"values"`
	// Low and High are a band around it, such as what chance allows.
	Low  []*float64 `json:"low,omitempty"`
	High []*float64 `json:"high,omitempty"`
}

// Data is what chart.js draws.
func (c chart) Data() any {
	return map[string]any{"labels": c.Labels, "unit": c.Unit, "from": c.From, "to": c.To, "bars": c.Bars, "series": c.Series, "x": c.X}
}

// Drawn reports whether there is a value at all.
func (c chart) Drawn() bool {
	for _, s := range c.Series {
		for _, v := range s.Values {
			if v != nil {
				return true
			}
		}
	}
	return false
}

// Cell is a value of the table, with its band.
func (c chart) Cell(s series, i int) string {
	if i >= len(s.Values) || s.Values[i] == nil {
		return "–"
	}
	text := c.number(*s.Values[i])
	if i < len(s.Low) && s.Low[i] != nil && s.High[i] != nil {
		text += fmt.Sprintf(" (%s to %s)", c.number(*s.Low[i]), c.number(*s.High[i]))
	}
	return text
}

func (c chart) number(x float64) string {
	switch {
	case c.Unit == "%":
		return fmt.Sprintf("%.1f%%", x)
	case x == float64(int64(x)):
		return grouped(int64(x))
	}
	return fmt.Sprintf("%.3g", x)
}

// grouped writes a whole number with its thousands apart.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}
