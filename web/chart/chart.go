// Package chart turns the figures of runs into charts, each with the same numbers as a table.
package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Chart is a set of series over one axis. Pages draw it and show the same numbers as a table.
type Chart struct {
	ID, Title string
	Note      string // how to read it
	X         string // name of the horizontal axis
	Y         string // name of the vertical axis, which only a chart with At draws
	Labels    []string
	At        []float64 // places of the labels on a numeric axis, ascending; nil: evenly spaced
	Unit      string    // of all values: "%" (the axis is 0 to 100), "tokens"; "" without a unit
	Bars      bool      // stacked bars, in the order of the series; else lines
	Series    []Series
}

// Series is a line of a chart: one value per label, nil if there is no value.
type Series struct {
	Name string `json:"name"`
	// Look selects color and shape: teacher, student, label, agree, differ, failed,
	// infra, passed, limit (out of time), context (out of it), ink or dim.
	Look   string     `json:"look"`
	Values []*float64 `json:"values"`
	// Low and High bound a band around the line, such as a confidence interval.
	Low  []*float64 `json:"low,omitempty"`
	High []*float64 `json:"high,omitempty"`
}

// Data is what chart.js draws.
func (c Chart) Data() any {
	return map[string]any{"labels": c.Labels, "unit": c.Unit, "bars": c.Bars, "series": c.Series, "x": c.X, "y": c.Y, "at": c.At}
}

// Drawn reports whether any series has a value.
func (c Chart) Drawn() bool {
	return slices.ContainsFunc(c.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil })
	})
}

// Cell formats value i of a series with its band, for the table.
func (c Chart) Cell(s Series, i int) string {
	if i >= len(s.Values) || s.Values[i] == nil {
		return "–"
	}
	text := c.number(*s.Values[i])
	if i < len(s.Low) && s.Low[i] != nil && s.High[i] != nil {
		text += fmt.Sprintf(" (%s to %s)", c.number(*s.Low[i]), c.number(*s.High[i]))
	}
	return text
}

func (c Chart) number(x float64) string {
	switch {
	case c.Unit == "%":
		return fmt.Sprintf("%.1f%%", x)
	case x == float64(int64(x)):
		return Grouped(int64(x))
	}
	return fmt.Sprintf("%.3g", x)
}

// Grouped formats n with a thin space between thousands.
func Grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// Number formats x with at most one decimal, as Grouped.
func Number(x float64) string {
	whole, tenth, _ := strings.Cut(strconv.FormatFloat(x, 'f', 1, 64), ".")
	n, _ := strconv.ParseInt(whole, 10, 64)
	if tenth == "0" {
		return Grouped(n)
	}
	return Grouped(n) + "." + tenth
}
