package web_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/shard"
	"relabel/shard/shardtest"
	"relabel/web/webtest"
)

// export builds an export of the site's run, in all views, and has its rows shown.
func (s *site) export() relabel.Export {
	s.t.Helper()
	x := shard.NewExporter(shard.Config{Tokenizers: shardtest.Tokenizers(s.t), Store: s.store, Root: s.t.TempDir(), FolderID: "here", Log: zerolog.Nop(), Version: "test"})
	s.rows = x
	e := relabel.Export{ID: relabel.NewID(), FolderID: "here", Selection: relabel.ExportSelection{RunID: s.run.ID, Iteration: 1, Unfinished: true},
		Form: relabel.ExportForm{Views: relabel.Views, Tokenizer: shardtest.Student(s.t), Capacity: 60000, MaxLength: 60000, TooLong: relabel.DropTooLong, Normalisation: relabel.PerTransition}}
	s.must(s.store.CreateExport(s.t.Context(), e))
	s.must(x.Step(s.t.Context(), relabel.ExportJob{ExportID: e.ID, Step: relabel.CutExport}))
	cut, err := s.store.FindExport(s.t.Context(), e.ID)
	s.must(err)
	for part := range cut.Parts {
		s.must(x.Step(s.t.Context(), relabel.ExportJob{ExportID: e.ID, Step: relabel.BuildPart, Part: part}))
	}
	s.must(x.Step(s.t.Context(), relabel.ExportJob{ExportID: e.ID, Step: relabel.FinishExport}))
	done, err := s.store.FindExport(s.t.Context(), e.ID)
	s.must(err)
	if done.State != relabel.ExportDone {
		s.t.Fatalf("the export is %s: %s", done.State, done.Failure)
	}
	return done
}

// trained makes two finished trajectories, and says which is looked at: its turns 2 and 4 have
// labels that do something else, that of turn 5 is missing.
func (s *site) trained() relabel.Trajectory {
	s.t.Helper()
	all := s.begin("trained", "sssss", "ss")
	for i, tr := range all {
		f := s.claim(tr)
		for t := range []int{5, 2}[i] {
			m := bash("I go on.", fmt.Sprintf("echo %d", t+1))
			label := s.label(m)
			switch t + 1 {
			case 2, 4:
				label = s.label(bash("Rather this. "+hostile, "pytest -q"))
			case 5:
				label = &relabel.Action{PolicyID: s.run.TeacherID, Status: relabel.Missing, Reason: "timeout"}
			}
			s.must(s.store.CommitTurn(s.t.Context(), f, s.turn(t+1, m, label, strings.Repeat(fmt.Sprintf("output of turn %d\n", t+1), 40))))
		}
		s.end(f, patch, relabel.Verdict{Passed: true, Reason: "tests"})
	}
	return all[0]
}

func TestTrainersViewShowsTheStoredMaskAndWeights(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.trained()
	path := "/trajectories/" + tr.ID.String() + "/trainer"
	contains(t, s.get(200, path), "None of the run’s newest 50 finished exports contain the trajectory", "/runs/"+tr.RunID.String()+"/export?iteration=1")
	e := s.export()
	for _, view := range relabel.Views {
		page := s.get(200, path+"?export="+e.ID.String()+"&view="+string(view))
		inert(t, string(view), page)
		contains(t, page, "These rows have no label of turn 5", "trained on")
	}
	tree := s.get(200, path)
	if words := regexp.MustCompile("<[^>]*>").ReplaceAllString(tree, ""); strings.Count(words, "Rather this.") != 2 {
		t.Error("the labels are not decoded")
	}
	contains(t, tree, "1 row with its labels", "turns 1–4", "leaf after node", `href="/trajectories/`+tr.ID.String()+`#t4"`, `class="w4" title="token `)
	messages := s.get(200, path+"?view=messages&turn=3")
	contains(t, messages, "4 rows with its labels", `aria-current="true">row 2</a>`, "echo 3")
	linear := s.get(200, path+"?view=linear&turn=4")
	if strings.Count(linear, "<b class=\"trained\"") != 1 {
		t.Error("a leaf of the linear view has one label")
	}
	for _, query := range []string{"?export=" + relabel.NewID().String(), "?view=other", "?row=99", "?row=x"} {
		s.get(404, path+query)
	}
	contains(t, s.get(200, "/trajectories/"+tr.ID.String()), path+"?turn=1", path+`"`)

	row, err := s.rows.Row(t.Context(), e, relabel.ViewTree, 0)
	s.must(err)
	trained := 0
	for _, label := range row.Row.Labels {
		if label != relabel.Unsupervised {
			trained++
		}
	}
	if n := strings.Count(s.get(200, "/exports/"+e.ID.String()+"/rows/tree/0"), "<i class=\"w"); n != trained {
		t.Errorf("%d tokens are marked, %d have a label", n, trained)
	}
	s.rows = shownRows{}
	contains(t, s.get(200, path), "The rows of this export cannot be shown: its files are in another data folder")
}

func TestTrainersViewInABrowser(t *testing.T) {
	t.Parallel()
	s := start(t)
	tr := s.trained()
	s.export()
	p := webtest.Open(t, s.URL+"/trajectories/"+tr.ID.String()+"/trainer?view=linear")
	p.Look("trainer-linear")
	p.Press("j")
	p.Wait("location.search.includes('row=') && document.querySelector('a[rel=prev]')")
	p.Press("k")
	p.Wait("!document.querySelector('a[rel=prev]')")
	right := "document.querySelector('.ids').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true})); 0"
	p.Eval(right, nil)
	first := p.Text("#token")
	p.Eval(right, nil)
	if next := p.Text("#token"); next == first || !strings.Contains(next, ", weight 0.") || p.Count(".ids i.at") != 1 {
		t.Errorf("the arrow leads from %s to %s", first, next)
	}
	p.Go(s.URL + "/trajectories/" + tr.ID.String() + "/trainer")
	p.Look("trainer-tree")
	p.Click(`.outline a.trained`)
	p.Wait("location.pathname.endsWith('" + tr.ID.String() + "') && location.hash === '#t1'")
}
