package web

import (
	"fmt"
	"strings"

	"relabel"
)

var intervalWords = map[relabel.IntervalMethod]string{
	relabel.IntervalWilson: "Wilson", relabel.IntervalClustered: "clustered by task", relabel.IntervalWilsonByTask: "Wilson, one trial per task",
}

// intervalWord names the method of an interval, "–" without one.
func intervalWord(m relabel.IntervalMethod) string {
	if word := intervalWords[m]; word != "" {
		return word
	}
	return "–"
}

// points formats a difference of shares in percentage points.
func points(x *float64) string {
	if x == nil {
		return "–"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", 100**x), "-", "−", 1)
}

// differenceWords formats the difference of two evaluations with its interval, in percentage points.
func differenceWords(c relabel.Comparison) string {
	if c.Difference == nil {
		return "–"
	}
	if c.Low == nil || c.High == nil {
		return points(c.Difference) + " (no interval)"
	}
	return fmt.Sprintf("%s [%s, %s]", points(c.Difference), points(c.Low), points(c.High))
}

// passAtKWords formats pass@k with the number of tasks that it leaves out.
func passAtKWords(p relabel.PassAtK) string {
	text := fmt.Sprintf("@%d %s", p.K, share(p.Value))
	if p.Short > 0 {
		text += fmt.Sprintf(", without %d", p.Short)
	}
	return text
}

// significant formats a number with three digits, "–" without one.
func significant(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3g", *x)
}
