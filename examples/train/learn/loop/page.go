package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// The size of a chart in pixels, and the space for its axes.
const (
	chartWidth, chartHeight = 420, 240
	chartLeft, chartBottom  = 40, 30
)

// chart is a rate by round, a line an arm.
type chart struct {
	Title string
	Lines []line
	Ticks []tick
}

// line is an arm's points in SVG coordinates.
type line struct {
	Name, Points string
	Bars         []bar
	Dash         string
	Color        string
}

// bar is the interval of a point.
type bar struct{ X, Y, Low, High float64 }

// tick is a label of an axis.
type tick struct {
	X, Y float64
	Text string
}

// The look of lines: each arm has its own color and dashes.
var (
	colors = []string{"#0b62a4", "#b3430b", "#3a7d2c", "#6f3fa0", "#555555"}
	dashes = []string{"", "6 3", "2 3", "8 3 2 3", "1 4"}
)

// writePage writes the results as a page.
func writePage(name string, rows []row, r *record) error {
	rounds := 1
	for _, row := range rows {
		rounds = max(rounds, row.Round)
	}
	success := newChart("Solved, of the held-out tasks", rows, rounds, func(r row) (value, low, high float64, ok bool) {
		return percent(r.Solved(), r.Tasks()), 100 * r.Success.Low, 100 * r.Success.High, true
	})
	repair := newChart("Solved all the same, of the tasks whose first check failed", rows, rounds, func(r row) (value, low, high float64, ok bool) {
		return percent(r.Recovered(), r.FirstFailed()), 100 * r.Recovery.Low, 100 * r.Recovery.High, r.FirstFailed() > 0
	})
	var b strings.Builder
	err := pageTemplate.Execute(&b, map[string]any{"Rows": rows, "Charts": []chart{success, repair}, "Record": r,
		"Width": chartWidth, "Height": chartHeight, "Left": chartLeft, "Floor": chartHeight - chartBottom})
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// newChart draws a rate by round. Every line begins with the shared first round.
func newChart(title string, rows []row, rounds int, rate func(row) (value, low, high float64, ok bool)) chart {
	c := chart{Title: title}
	x := func(round int) float64 {
		return chartLeft + float64(chartWidth-chartLeft-10)*(float64(round)-0.5)/float64(rounds)
	}
	y := func(percent float64) float64 {
		return float64(chartHeight-chartBottom) * (1 - percent/105)
	}
	for round := 1; round <= rounds; round++ {
		c.Ticks = append(c.Ticks, tick{x(round), chartHeight - 10, fmt.Sprintf("round %d", round)})
	}
	for value := 0; value <= 100; value += 25 {
		c.Ticks = append(c.Ticks, tick{chartLeft / 2, y(float64(value)) + 4, fmt.Sprintf("%d %%", value)})
	}
	names := []string{}
	points := map[string][]row{}
	for _, r := range rows {
		if len(points[r.Arm.Name]) == 0 && r.Arm.Name != base.Name {
			names = append(names, r.Arm.Name)
		}
		points[r.Arm.Name] = append(points[r.Arm.Name], r)
	}
	if len(names) == 0 {
		names = []string{base.Name}
	}
	for i, name := range names {
		own := line{Name: name, Color: colors[i%len(colors)], Dash: dashes[i%len(dashes)]}
		all := points[name]
		if name != base.Name {
			all = append(points[base.Name], all...)
		}
		for _, r := range all {
			value, low, high, ok := rate(r)
			if !ok {
				continue
			}
			at := x(r.Round) + float64(i*4) // intervals of several arms stay apart
			own.Points += fmt.Sprintf("%.1f,%.1f ", at, y(value))
			own.Bars = append(own.Bars, bar{at, y(value), y(low), y(high)})
		}
		c.Lines = append(c.Lines, own)
	}
	return c
}
