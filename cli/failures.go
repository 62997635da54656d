package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

const (
	shownCauses = 5   // causes of failure that are printed per iteration
	shortDetail = 160 // characters of a detail in that list
)

// cause is a cause of failures with its count.
type cause struct {
	reason relabel.FailureReason
	detail string
	count  int
}

// identifier matches the parts that differ between details with the same meaning.
var identifier = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// causesOf counts the failures by reason and detail, the most frequent first.
func causesOf(failed []relabel.Trajectory) []cause {
	var causes []cause
	for _, j := range failed {
		detail := short(identifier.ReplaceAllString(oneLine(j.FailureDetail), "…"))
		same := Find(causes, func(c cause) bool { return c.reason == j.Failure && c.detail == detail })
		if same == nil {
			causes = append(causes, cause{reason: j.Failure, detail: detail})
			same = &causes[len(causes)-1]
		}
		same.count++
	}
	slices.SortStableFunc(causes, func(a, b cause) int { return b.count - a.count })
	return causes
}

// PrintCauses prints why trajectories of an iteration failed, if any did.
func PrintCauses(ctx context.Context, cl *Session, title string, it api.IterationView) error {
	if it.Progress.Trajectories[relabel.Failed] == 0 {
		return nil
	}
	failed, err := cl.Trajectories(ctx, client.Values(api.TrajectoryQuery{Iteration: it.ID.String(), State: relabel.Failed}))
	if err != nil {
		return err
	}
	causes := causesOf(failed)
	fmt.Printf("\n%s: %d failed\n", title, len(failed))
	for _, c := range causes[:min(shownCauses, len(causes))] {
		fmt.Printf("  %d × %s: %s\n", c.count, c.reason, c.detail)
	}
	if more := len(causes) - shownCauses; more > 0 {
		fmt.Printf("  and %d other causes; `relabel run trajectories RUN --state failed` lists all\n", more)
	}
	return nil
}

// short returns the beginning of a text.
func short(text string) string {
	if r := []rune(text); len(r) > shortDetail {
		return string(r[:shortDetail]) + "…"
	}
	return text
}

// Find returns the first item that matches, or nil.
func Find[T any](items []T, match func(T) bool) *T {
	for i := range items {
		if match(items[i]) {
			return &items[i]
		}
	}
	return nil
}
