package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// shownRows gives one row of a tree and no other.
type shownRows struct{}

func (shownRows) Row(_ context.Context, _ relabel.Export, view relabel.View, n int) (relabel.ShownRow, error) {
	if view == relabel.ViewPreference && n == 0 {
		return relabel.ShownRow{File: "preference/00000.parquet", Of: 1, Row: relabel.ExportRow{ID: "t/1", Distance: 0.5, Parts: []relabel.RowPart{
			{Message: &relabel.Message{Role: relabel.RoleTool, Content: hostile + strings.Repeat("long ", 2000)}},
			{Title: "chosen", Message: &relabel.Message{Role: relabel.RoleAssistant, Content: "I chose"}, Trained: true},
			{Title: "rejected", Text: "{not a message"}}}}, nil
	}
	if view != relabel.ViewTree || n != 0 {
		return relabel.ShownRow{}, relabel.Errorf(relabel.CodeNotFound, "there is no row %d", n)
	}
	w := float32(0.25)
	row := relabel.ExportRow{ID: "tree/0/0", IDs: []int32{1, 2, 3}, Labels: []int32{relabel.Unsupervised, relabel.Unsupervised, 3}, Weights: []float32{0, 0, w},
		NodeStart: []int32{0, 1}, NodeParent: []int32{-1, 0}, NodeKind: []int32{relabel.TrunkNode, relabel.LeafNode},
		Spans: []relabel.ExportSpan{{Trajectory: relabel.NewID().String(), Turn: 7, Kind: "leaf", Start: 2, Length: 1, Weight: &w, Iteration: 1, IDs: "rendered"}}}
	return relabel.ShownRow{Row: row, File: "tree/00000.parquet", Of: 1, Texts: []string{"state\n", "header\n", hostile}}, nil
}

func (shownRows) Manifest(context.Context, relabel.Export) (relabel.Manifest, error) {
	return relabel.Manifest{}, relabel.Errorf(relabel.CodeConflict, "its files are in another data folder: /srv")
}

func (shownRows) Holds(context.Context, relabel.Export, relabel.View, relabel.ID, func(string) bool) ([]relabel.HeldLabel, error) {
	return nil, relabel.Errorf(relabel.CodeConflict, "its files are in another data folder: /srv")
}

// exported makes a finished export of the site's run, with files.
func (s *site) exported(files ...relabel.ExportFile) relabel.Export {
	s.t.Helper()
	return s.finishExport(s.queueExport(), files...)
}

func (s *site) queueExport() relabel.Export {
	s.t.Helper()
	e := relabel.Export{ID: relabel.NewID(), State: relabel.ExportQueued, FolderID: "here", Directory: "/srv/exports/x", Selection: relabel.ExportSelection{RunID: s.run.ID, Iteration: 1},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewTree}, Tokenizer: "/srv/student", Capacity: 4096, MaxLength: 4096, TooLong: relabel.DropTooLong, Normalisation: relabel.PerToken}}
	s.must(s.store.CreateExport(s.t.Context(), e))
	return e
}

func (s *site) finishExport(e relabel.Export, files ...relabel.ExportFile) relabel.Export {
	s.t.Helper()
	s.must(s.store.CutExport(s.t.Context(), e.ID, 1<<20))
	cut, err := s.store.FindExport(s.t.Context(), e.ID)
	s.must(err)
	for part := range cut.Parts {
		p, err := s.store.FindExportPart(s.t.Context(), e.ID, part)
		s.must(err)
		left := fmt.Sprintf(`{"reason":"label_missing","trajectory":%q,"turn":1,"states":1,"detail":"\u0000 \ud800"}`, p.Trajectories[0].ID)
		s.must(s.store.FinishExportPart(s.t.Context(), e.ID, part, []byte("{}"), []byte(left+"\n")))
	}
	e.Rows, e.Excluded = 12, map[string]int{"trajectory_failed": 3, "label_missing": 1}
	e.Files = append(files, relabel.ExportFile{Path: "tree/00000.parquet", SHA256: strings.Repeat("ab", 32), Bytes: 4321, Rows: 1, Tokens: 3, SupervisedTokens: 1})
	if len(files) > 0 {
		e.Files = files
	}
	s.must(s.store.FinishExport(s.t.Context(), e))
	return e
}

func TestAnExportIsShownWithItsRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.outcomes()
	e := s.exported()
	path := "/exports/" + e.ID.String()
	if list := s.get(200, "/exports"); !strings.Contains(list, path+"/rows/tree/0") || !strings.Contains(list, "✓ done") {
		t.Error(list)
	}
	whole := s.get(200, path)
	for _, want := range []string{"12", "trajectory_failed", "state=failed", "label_missing", "/v1" + path + "/files/tree/00000.parquet", path + "/rows/tree/0", "/srv/exports/x", "/srv/student", path + "/delete", "<span>1 label_missing</span>"} {
		if !strings.Contains(whole, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	s.get(404, path+"/rows/tree/1")
	s.get(404, path+"/rows/linear/0")
	s.get(404, path+"/rows/tree/x")
	row := s.get(200, path+"/rows/tree/0")
	for _, want := range []string{"node 1, leaf after node 0, tokens 1 to 3", "id 3, weight 0.25", "#t7", "0.25"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row lacks %q:\n%s", want, row)
		}
	}
	if strings.Contains(row, "<script>alert") || strings.Contains(row, "\u202e") {
		t.Error("text of others is not inert")
	}
	text := s.get(200, path+"/rows/preference/0")
	for _, want := range []string{"3 messages or texts", "◆ 1 trained on", "distance 0.5", "chosen assistant", "the label, which is preferred", "I chose", "{not a message", "bytes, not trained on</summary>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the row of text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<script>alert") {
		t.Error("text of others is not inert in a row of text")
	}
}

func TestExportPagesInABrowser(t *testing.T) {
	s := start(t)
	s.outcomes()
	e := s.exported()
	for name, path := range map[string]string{"exports": "/exports", "export": "/exports/" + e.ID.String(), "export-row": "/exports/" + e.ID.String() + "/rows/tree/0"} {
		webtest.Open(t, s.URL+path).Look(name)
	}
}

func TestAnExportsPageShowsWhatIsInItWhenItIsDone(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.outcomes()
	e := s.queueExport()
	p := webtest.Open(t, s.URL+"/exports/"+e.ID.String())
	list := webtest.Open(t, s.URL+"/exports?run="+s.run.ID.String())
	for _, open := range []*webtest.Page{p, list} {
		open.Wait("document.querySelector('#live-state').textContent === 'live' && document.querySelector('main').innerText.includes('queued')")
	}
	if text := p.Text("main"); strings.Contains(text, "Excluded") || !strings.Contains(text, "when it is done") {
		t.Errorf("before it is done the page says %s", text)
	}
	s.finishExport(e)
	p.Wait("document.querySelector('main').innerText.includes('label_missing') && document.querySelector(\"a[href$='/rows/tree/0']\") && document.querySelector(\".operations a[href$='/delete']\")")
	list.Wait("document.querySelector('tbody').innerText.includes('done')")
	s.begin("other", "T")
	if text := s.get(200, "/exports?run="+s.run.ID.String()); strings.Contains(text, e.ID.String()) {
		t.Error("a run's exports hold another's")
	}
}
