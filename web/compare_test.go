package web_test

import (
	"fmt"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// pairOf makes two rollouts of one task: the same commands but those that differ.
func (s *site) pairOf(a, b []string) (first, second relabel.Trajectory) {
	s.t.Helper()
	all := s.begin("demo", strings.Repeat("s", 90))
	it := s.iteration
	it.ID, it.Number = relabel.NewID(), 2
	other := all[0]
	other.ID, other.IterationID = relabel.NewID(), it.ID
	s.must(s.store.CreateIteration(s.t.Context(), relabel.PlannedIteration{Iteration: it, Trajectories: []relabel.Trajectory{other}}))
	for i, commands := range [][]string{a, b} {
		f := s.claim([]relabel.Trajectory{all[0], other}[i])
		for t, command := range commands {
			m := bash("I do it.", command)
			s.must(s.store.CommitTurn(s.t.Context(), f, s.turn(t+1, m, s.label(m), "output of "+command)))
		}
		status := []relabel.TestStatus{relabel.TestPassed, relabel.TestFailed}[i]
		s.end(f, []string{patch, strings.Replace(patch, "round(", "ceil(", 1)}[i], relabel.Verdict{Passed: i == 0, Reason: "tests",
			Tests: map[string]relabel.TestStatus{"t::a": status, "t::b <script>": relabel.TestPassed}})
	}
	return all[0], other
}

func TestTwoTrajectoriesAreComparedRowByRow(t *testing.T) {
	t.Parallel()
	s := start(t)
	var a, b []string
	for i := range 40 {
		a = append(a, fmt.Sprintf("echo %d", i))
		switch {
		case i == 3:
			b = append(b, "echo 3 --loudly")
		case i == 5:
			b = append(b, "pwd", "echo 5") // one more, then both go on alike
		default:
			b = append(b, a[i])
		}
	}
	first, second := s.pairOf(a, append(b, hostile))
	address := "/compare?a=" + first.ID.String() + "&b=" + second.ID.String()
	p := webtest.Open(t, s.URL+address)
	text := p.Text("main")
	for _, want := range []string{"First difference in row 4", "both do the same in 39 of 42 rows", "only B"} {
		if !strings.Contains(text, want) {
			t.Errorf("nowhere does it say %q:\n%.1200s", want, text)
		}
	}
	if n := p.Count("article.pair"); n != 42 {
		t.Errorf("%d rows", n)
	}
	p.Look("compare")
	p.Press("n")
	p.Wait("location.hash === '#r4' && document.querySelector('#r4 mark, #r4 .own')")
	p.Press("n")
	p.Wait("location.hash === '#r6'")
	p.Press("p", "j", "k")
	p.Wait("location.hash === '#r4'")
	p.Press("k", "e")
	p.Wait("location.hash === '#r3' && document.querySelector('#r3:not(.closed) .texts')?.innerText.includes('echo 2')")
	p.Press("G") // its texts come when it is reached
	p.Wait("location.hash === '#r42' && document.querySelector('#r42 .texts')?.innerText.includes('onerror=alert(1)')")
	if n := p.Count("main script, main img, [onmouseover], [onerror]"); n != 0 {
		t.Errorf("%d elements came from a text", n)
	}
	if got := p.Text("#tests ~ .wide"); !strings.Contains(got, "t::a") || strings.Contains(got, "t::b") {
		t.Errorf("tests that ended otherwise: %q", got)
	}
}

func TestComparisonsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, second := s.pairOf([]string{"ls"}, []string{"ls"})
	same := "/compare?a=" + first.ID.String() + "&b=" + second.ID.String()
	if page := s.get(200, same); !strings.Contains(page, "Both do the same in 1 of 1 rows") {
		t.Error("the same is not said to be")
	}
	for _, query := range []string{"&part=pairs&pairs=2-1", "&part=pairs&pairs=0-0", "&part=pairs&pairs=x", "&part=pairs&pairs=" + strings.Repeat("1-1,", 20) + "1-1"} {
		s.get(400, same+query)
	}
	if part := s.get(200, same+"&part=pairs&pairs=1-0"); !strings.Contains(part, "output of ls") || strings.Contains(part, "<html") {
		t.Errorf("a pair alone: %s", part)
	}
	other := s.begin("other", "s")
	s.get(400, "/compare?a="+first.ID.String()+"&b="+other[0].ID.String())
	s.get(400, "/compare?a="+first.ID.String())
	s.get(404, "/compare?a="+first.ID.String()+"&b="+relabel.NewID().String())
}
