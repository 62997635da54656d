package web

import (
	"fmt"
	"html/template"
	"net/url"
	"time"

	"relabel"
	"relabel/safetext"
	"relabel/web/chart"
	"relabel/web/show"
)

var functions = template.FuncMap{
	"text":        safetext.Plain,
	"show":        safetext.HTML,
	"exact":       safetext.Attr,
	"when":        when,
	"short":       short,
	"segment":     url.PathEscape,
	"percent":     percent,
	"sum":         func(a, b int) int { return a + b },
	"share":       share,
	"score":       exactScore,
	"day":         day,
	"many":        many,
	"grouped":     chart.Grouped,
	"number":      chart.Number,
	"excluded":    scalingWords,
	"badge":       badgeOf,
	"ended":       endWord,
	"because":     becauseOf,
	"verdict":     verdictWord,
	"hits":        hitsWord,
	"schedule":    scheduleOf,
	"ms":          show.Duration,
	"size":        show.Size,
	"size64":      func(bytes int64) string { return show.Size(int(bytes)) },
	"mode":        modeWord,
	"proportion":  proportionWords,
	"mean":        meanWord,
	"interval":    intervalWord,
	"difference":  differenceWords,
	"benchmark":   benchmarkWord,
	"source":      sourceWord,
	"passk":       passAtKWords,
	"significant": significant,
	"taskmean":    taskMeanWords,
	"rankings":    func() []string { return relabel.RankingNames },
}

func when(t any) string {
	switch v := t.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05 UTC")
	case *time.Time:
		if v != nil {
			return when(*v)
		}
	}
	return "–"
}

func day(t time.Time) string { return t.UTC().Format("2 Jan 15:04") }

func many(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// short is the end of an id, which differs between ids of the same time.
func short(id relabel.ID) string { s := id.String(); return s[len(s)-12:] }

// percent formats n of all with the percentage.
func percent(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%d%%)", n, all, (200*n+all)/(2*all))
}

// exactScore is a score, 0 without one.
func exactScore(x *float64) string {
	if x == nil {
		return "0.000"
	}
	return fmt.Sprintf("%.3f", *x)
}

// share formats a fraction, "–" if unknown. Only exact 0 and 1 are shown as such.
func share(x *float64) string {
	switch {
	case x == nil:
		return "–"
	case *x < 1 && *x >= 0.995:
		return "0.99"
	case *x > 0 && *x < 0.005:
		return "0.01"
	}
	return fmt.Sprintf("%.2f", *x)
}

// badge shows the state of a trajectory by word, sign and class, so that color never stands alone.
type badge struct{ Class, Sign, Word string }

// badgeOf distinguishes failures of the agent from failures of the infrastructure.
func badgeOf(t relabel.Trajectory) badge {
	switch {
	case t.State == relabel.Failed:
		return badge{"infra", "⚠", "infrastructure: " + string(t.Failure)}
	case t.State == relabel.Cancelled:
		return badge{"quiet", "⊘", "cancelled"}
	case t.State != relabel.Done:
		return badge{"busy", "…", string(t.State)}
	case t.Verdict == relabel.VerdictError:
		return badge{"infra", "⚠", "infrastructure: verifier"}
	case t.Verdict == relabel.VerdictUnverified:
		return badge{"quiet", "–", "done, not verified"}
	case t.Verdict == relabel.VerdictCut:
		return badge{"quiet", "–", "done, " + endWord(t.EndReason)}
	case t.Score != nil && t.Hits != nil && *t.Hits > 0:
		return badge{"good", "✓", scoreWord(t)}
	case t.Score != nil && (t.Hits != nil || t.Verdict != relabel.VerdictPassed):
		return badge{"bad", "✗", scoreWord(t)}
	case t.Resolved == nil:
		return badge{"quiet", "–", "done, no verdict"}
	case *t.Resolved:
		return badge{"good", "✓", "resolved"}
	case t.Verdict == relabel.VerdictPassed:
		return badge{"bad", "✗", "passes, not submitted"}
	}
	return badge{"bad", "✗", "not resolved"}
}

// scoreWord is the score of a ranked answer, or the reward of a task in a terminal.
func scoreWord(t relabel.Trajectory) string { return fmt.Sprintf("score %.2f", *t.Score) }

// hitsWord is the number of hits of an answer, "" without any.
func hitsWord(hits *int) string {
	switch {
	case hits == nil || *hits == 0:
		return ""
	case *hits == 1:
		return "1 hit"
	}
	return fmt.Sprintf("%d hits", *hits)
}

// becauseOf is why a trajectory does not pass, "" if it passes or has no verdict.
func becauseOf(t relabel.Trajectory) string {
	if t.Verdict != relabel.VerdictFailed {
		return ""
	}
	return verdictWord(t.VerdictReason)
}

// scheduleOf describes β or the distribution of κ in an iteration.
func scheduleOf(it relabel.Iteration) string {
	switch {
	case it.Kind == relabel.Evaluate:
		return "student alone"
	case it.Kind == relabel.Sample:
		return "student alone, sampled"
	case it.Beta != nil:
		return fmt.Sprintf("β = %.4g", *it.Beta)
	case it.Rho != nil:
		return "κ " + it.Rho.Text()
	}
	return "–"
}

func betaWords(b relabel.BetaSchedule) string {
	switch b.Kind {
	case "linear":
		return fmt.Sprintf("linear: %.4g, −%.4g per iteration, at least %.4g", b.Start, b.Step, b.Floor)
	case "exponential":
		return fmt.Sprintf("exponential: %.4g, ×%.4g per iteration, at least %.4g", b.Start, b.Decay, b.Floor)
	case "list":
		return fmt.Sprintf("list %v", b.Values)
	}
	return fmt.Sprintf("constant %.4g", b.Start)
}

// nameOf is a policy's name@version.
func nameOf(p relabel.Policy) string { return fmt.Sprintf("%s@%d", p.Name, p.Version) }
