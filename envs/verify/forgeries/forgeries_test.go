package forgeries

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
)

// atOnce is how many submissions are tried at the same time.
const atOnce = 2

// kindsNow is the share of the kinds that a usual run tries: one in this many.
const kindsNow = 3

// triedNow returns the submissions to try: one of each kind that is drawn, or all where RELABEL_TEST_ALL
// is set, as `make forgeries` does. Of RELABEL_TEST_ALL=K/N it is every Nth from number K on.
func triedNow(t *testing.T, submissions []submission) (now []submission) {
	part := os.Getenv("RELABEL_TEST_ALL")
	if part == "" {
		kinds := ofEachKind(submissions)
		first := rand.IntN(min(kindsNow, len(kinds)))
		for i := first; i < len(kinds); i += kindsNow {
			now = append(now, kinds[i])
		}
		t.Logf("kinds %d, %d, … of %d are tried", first, first+kindsNow, len(kinds))
		return now
	}
	first, step := 0, 1
	if _, err := fmt.Sscanf(part, "%d/%d", &first, &step); err != nil {
		first, step = 0, 1
	}
	for i := first; i < len(submissions); i += step {
		now = append(now, submissions[i])
	}
	return now
}

func TestNoForgeryPasses(t *testing.T) {
	for _, r := range attemptAll(t, triedNow(t, readSubmissions(t, "cheats"))) {
		if problem := heldAgainst(r); problem != "" {
			t.Errorf("%s (%s): %s\n%s\n%s", r.submission.name, r.submission.about, problem, r.patch, r.verdict.Output)
		}
	}
}

// failedTests are the reasons that any forgery may come to.
var failedTests = map[relabel.VerdictReason]bool{relabel.VerdictTests: true, relabel.VerdictTampered: true}

// heldAgainst says what is wrong with the outcome of a forgery; "" if it failed by its own doing.
func heldAgainst(r result) string {
	switch {
	case r.err != nil:
		return "it ended as a failure of the environment: " + r.err.Error()
	case r.verdict.Infra != "":
		return "it ended as an infrastructure error: " + r.verdict.Infra
	case r.verdict.Passed:
		return "it passed"
	case !failedTests[r.verdict.Reason] && !slices.Contains(r.submission.allow, string(r.verdict.Reason)):
		return "it came to " + string(r.verdict.Reason) + ", which its header does not allow: does it still try what it says?"
	}
	return ""
}

func TestHonestSolutionsPass(t *testing.T) {
	for _, r := range attemptAll(t, triedNow(t, readSubmissions(t, "honest"))) {
		if r.err != nil || !r.verdict.Passed {
			t.Errorf("%s (%s): error %v, infra %q, reason %q, tests %v\n%s", r.submission.name, r.submission.about,
				r.err, r.verdict.Infra, r.verdict.Reason, r.verdict.Tests, r.verdict.Output)
		}
		_, left, _ := strings.Cut(string(r.verdict.Output), "are left out: ")
		if want := r.submission.left; r.verdict.Canaries == r.submission.plain || (want == "") != (left == "") || !strings.HasPrefix(left, want) {
			t.Errorf("%s: canaries %v, left out: %q, want %q\n%s", r.submission.name, r.verdict.Canaries, left, want, r.verdict.Output)
		}
	}
}

// chosen returns those submissions whose name, kind or task matches RELABEL_TEST_FORGERY.
func chosen(t *testing.T, submissions []submission) []submission {
	t.Helper()
	pattern, err := regexp.Compile(os.Getenv("RELABEL_TEST_FORGERY"))
	if err != nil {
		t.Fatalf("RELABEL_TEST_FORGERY: %v", err)
	}
	return slices.DeleteFunc(slices.Clone(submissions), func(s submission) bool {
		return !pattern.MatchString(s.name) && !pattern.MatchString(s.kind) && !pattern.MatchString(s.task)
	})
}

// TestForgeriesThatNoVerdictCanTell lists what the takeovers that are documented as undefended
// come to. Nothing is asserted of their verdicts; they must end with one.
func TestForgeriesThatNoVerdictCanTell(t *testing.T) {
	undefended := readSubmissions(t, "undefended")
	if os.Getenv("RELABEL_TEST_ALL") == "" {
		undefended = undefended[:1]
	}
	for _, r := range attemptAll(t, triedNow(t, undefended)) {
		if r.err != nil || r.verdict.Infra != "" {
			t.Errorf("%s (%s): error %v, infra %q", r.submission.name, r.submission.about, r.err, r.verdict.Infra)
		}
	}
}

// attemptAll tries submissions, some at once, and prints what each came to.
func attemptAll(t *testing.T, submissions []submission) []result {
	t.Helper()
	submissions = chosen(t, submissions)
	host := smallDisks{dockertest.NewHost(t)}
	made := &shelf{t: t, tasks: map[string]relabel.Task{}}
	results := make([]result, len(submissions))
	var waiting sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, s := range submissions {
		task := made.task(s.task)
		slots <- struct{}{}
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			defer func() { <-slots }()
			results[i] = attempt(context.Background(), host, task, s)
			t.Logf("%s: %s", s.name, results[i].word())
		}()
	}
	waiting.Wait()
	t.Logf("%s", table(results))
	return results
}

// smallDisks makes sandboxes with little disk: some forgeries fill what they get.
type smallDisks struct{ envs.Host }

func (h smallDisks) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	spec.Limits.DiskBytes = 1 << 30
	return h.Host.Create(ctx, spec)
}

// table lists what submissions came to.
func table(results []result) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nTASK\tKIND\tNAME\tVERDICT\tDROPPED\tSECONDS\n")
	for _, r := range results {
		s := r.submission
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%.1f\n", s.task, s.kind, s.name, r.word(), r.verdict.DroppedCount, r.took.Seconds())
	}
	_ = w.Flush() // a strings.Builder takes everything
	return text.String()
}

// word says in short what a submission came to.
func (r result) word() string {
	switch {
	case r.err != nil:
		return "ERROR " + r.err.Error()
	case r.verdict.Infra != "":
		return "INFRA " + r.verdict.Infra
	case r.verdict.Passed:
		return "passed"
	}
	return string(r.verdict.Reason)
}
