package web_test

import (
	"net/http"
	"testing"

	"relabel/store/storetest"
	"relabel/web/webtest"
)

// BenchmarkPagesOfALargeRun asks for each kind of page among 100,000 trajectories of ten
// iterations: what the server needs to answer it, and a browser to show it.
func BenchmarkPagesOfALargeRun(b *testing.B) {
	s := start(b)
	c := storetest.SeedCrowd(b, s.store, 91_000, 3)
	run, middle, first := c.Run.ID.String(), c.Middle.String(), c.First.String()
	trajectory, err := s.store.FindTrajectory(b.Context(), c.First)
	s.must(err)
	for _, page := range []struct{ name, path string }{
		{"home", "/"},
		{"run", "/runs/" + run},
		{"grid of tasks", "/runs/" + run + "/tasks"},
		{"iteration", "/iterations/" + middle},
		{"list", "/trajectories?run=" + run + "&sort=lowest_agreement"},
		{"trajectory", "/trajectories/" + first},
		{"trainer", "/trajectories/" + first + "/trainer"},
		{"tasks", "/tasks/" + c.Run.TasksetID.String()},
		{"task", "/tasks/" + c.Run.TasksetID.String() + "/" + trajectory.InstanceID},
		{"policies", "/policies"},
		{"policy", "/policies/" + c.Run.TeacherID.String()},
		{"exports", "/exports"},
		{"reviews", "/reviews"},
		{"operation to export", "/runs/" + run + "/export"},
		{"operation to start", "/runs/" + run + "/start"},
	} {
		b.Run(page.name+"/server", func(b *testing.B) {
			var bytes int
			for b.Loop() {
				bytes = len(s.get(http.StatusOK, page.path))
			}
			b.ReportMetric(float64(bytes)/1e3, "kB-html")
		})
		b.Run(page.name+"/browser", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p := webtest.Open(b, "about:blank")
				p.Expect("a request to elsewhere: " + s.URL) // elsewhere to a blank page
				b.StartTimer()
				p.Go(s.URL + page.path)
				b.StopTimer()
				p.Close()
				b.StartTimer()
			}
		})
	}
}
