package store_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/store"
	"relabel/store/storetest"
)

// finishedExport is an export of a run's first iteration that is done.
func finishedExport(t *testing.T, s *store.Store, run relabel.ID, trajectories, states int) relabel.Export {
	t.Helper()
	ctx := context.Background()
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Directory: "/exports", Selection: relabel.ExportSelection{RunID: run, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.RunExport(ctx, e.ID))
	e.Rows, e.Trajectories = states, &trajectories
	e.Files = []relabel.ExportFile{{Path: "manifest.json", SHA256: "m" + e.ID.String()}}
	must(t, s.FinishExport(ctx, e))
	e, err := s.FindExport(ctx, e.ID)
	must(t, err)
	return e
}

func trained(t *testing.T, s *store.Store, p relabel.Policy) relabel.Policy {
	t.Helper()
	p.BaseURL, p.Model, p.Server, p.Limits = "http://h/v1", "m", relabel.ServerVLLM, relabel.DefaultPolicyLimits
	made, err := s.CreatePolicy(context.Background(), p)
	must(t, err)
	return made
}

func on(t *testing.T, e relabel.Export, epochs float64) relabel.TrainedOn {
	t.Helper()
	of, err := e.Trains(relabel.Run{Name: "r"}, &epochs)
	must(t, err)
	return of
}

func TestEffectiveSamplesAddUpAlongTheChainAndOutliveExports(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 1)
	first, second := finishedExport(t, s, d.Run.ID, 500, 9000), finishedExport(t, s, d.Run.ID, 480, 8000)
	base := trained(t, s, relabel.Policy{Name: "base", Untrained: true})
	one := relabel.Policy{Name: "learner", TrainedFrom: &base.ID, TrainedOn: []relabel.TrainedOn{on(t, first, 3)}}
	one = trained(t, s, one)
	two := trained(t, s, relabel.Policy{Name: "learner", TrainedFrom: &one.ID, TrainedOn: []relabel.TrainedOn{on(t, second, 2.5), on(t, first, 0.5)}})
	if one.Version != 1 || two.Version != 2 {
		t.Fatalf("versions %d and %d", one.Version, two.Version)
	}
	want := relabel.EffectiveSamples{Trajectories: 500*3 + 480*2.5 + 500*0.5, States: 9000*3 + 8000*2.5 + 9000*0.5}
	check := func() {
		t.Helper()
		chain, err := s.ListTrainingChain(ctx, two.ID)
		must(t, err)
		got := evaluation.Training(chain)
		if len(got.Steps) != 3 || got.Effective == nil || *got.Effective != want || got.Steps[0].Added != (relabel.EffectiveSamples{Trajectories: 1450, States: 24500}) ||
			got.Steps[0].TrainedOn[1].ManifestSHA256 != "m"+first.ID.String() || !got.Steps[2].Untrained {
			t.Errorf("%+v", got)
		}
	}
	check()
	must(t, s.DeleteExport(ctx, first.ID))
	check()
	kept, err := s.FindPolicy(ctx, two.ID)
	must(t, err)
	if kept.TrainedOn[0].Deleted || !kept.TrainedOn[1].Deleted || kept.TrainedOn[1].ExportID != first.ID || kept.TrainedOn[1].Epochs != 0.5 {
		t.Errorf("after the export was deleted: %+v", kept.TrainedOn)
	}
	if again := trained(t, s, two); again.ID != two.ID {
		t.Error("the same training makes a new version")
	}
	gone, err := s.FindTrained(ctx, first.ID)
	must(t, err)
	if !gone.Deleted || gone.Run != "r" || gone.States != 9000 || gone.Trajectories != 500 || gone.ManifestSHA256 != "m"+first.ID.String() {
		t.Errorf("of the deleted export: %+v", gone)
	}
	if after := trained(t, s, relabel.Policy{Name: "after", TrainedOn: []relabel.TrainedOn{gone}}); after.Version != 1 {
		t.Errorf("version %d after the export was deleted", after.Version)
	}
	_, err = s.FindTrained(ctx, relabel.NewID())
	wantCode(t, err, relabel.CodeNotFound)
	if other := trained(t, s, relabel.Policy{Name: "learner", TrainedFrom: &one.ID, TrainedOn: []relabel.TrainedOn{on(t, second, 3)}}); other.Version != 3 {
		t.Errorf("other epochs are version %d", other.Version)
	}
	_, err = s.ListTrainingChain(ctx, relabel.NewID())
	wantCode(t, err, relabel.CodeNotFound)
}

func TestATaskOfABenchmarkThatTrainedTheStudentIsCounted(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 3)
	for _, tr := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 1, true)
	}
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Directory: "/exports", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.CutExport(ctx, e.ID, 1)) // a trajectory a part
	e, err := s.FindExport(ctx, e.ID)
	must(t, err)
	for n := range e.Parts {
		p, err := s.FindExportPart(ctx, e.ID, n)
		must(t, err)
		excluded := ""
		if tr := p.Trajectories[0]; tr.ID == d.Trajectories[2].ID { // all states of the last task
			excluded = fmt.Sprintf(`{"reason":"not_resolved","trajectory":%q,"turn":null,"states":%d}`, tr.ID, tr.Turns)
		}
		must(t, s.FinishExportPart(ctx, e.ID, n, []byte("{}"), []byte(excluded)))
	}
	e.Rows, e.Trajectories = 2, new(2)
	must(t, s.FinishExport(ctx, e))
	e, err = s.FindExport(ctx, e.ID)
	must(t, err)
	parent := trained(t, s, relabel.Policy{Name: "parent", TrainedOn: []relabel.TrainedOn{on(t, e, 1)}})
	child := trained(t, s, relabel.Policy{Name: "child", TrainedFrom: &parent.ID, TrainedOn: []relabel.TrainedOn{on(t, finishedExport(t, s, d.Run.ID, 1, 1), 1)}})
	b := benchmarkOf(t, s, "b", d.Tasks[1], d.Tasks[2])
	count := func(of relabel.Policy, want relabel.TrainedTasks) {
		t.Helper()
		if n, err := s.CountTrained(ctx, of.ID, b.ID); err != nil || n != want {
			t.Errorf("%s: %+v, %v", of.Name, n, err)
		}
	}
	count(child, relabel.TrainedTasks{Tasks: 1, Of: 2})
	count(d.Student, relabel.TrainedTasks{Of: 2})
	must(t, s.DeleteExport(ctx, e.ID))
	count(child, relabel.TrainedTasks{Of: 2, Deleted: 1})
}

func TestAChainWithoutAStatedStartHasNoEffectiveSamples(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 1)
	e := finishedExport(t, s, d.Run.ID, 10, 100)
	child := trained(t, s, relabel.Policy{Name: "child", TrainedFrom: &d.Student.ID, TrainedOn: []relabel.TrainedOn{on(t, e, 1)}})
	chain, err := s.ListTrainingChain(ctx, child.ID)
	must(t, err)
	if got := evaluation.Training(chain); got.Effective != nil || got.Unknown != d.Student.Name+"@1" {
		t.Errorf("%+v", got)
	}
	alone := trained(t, s, relabel.Policy{Name: "alone", TrainedOn: []relabel.TrainedOn{on(t, e, 2)}})
	chain, err = s.ListTrainingChain(ctx, alone.ID)
	must(t, err)
	if got := evaluation.Training(chain); got.Effective == nil || *got.Effective != (relabel.EffectiveSamples{Trajectories: 20, States: 200}) {
		t.Errorf("of a model that is not registered: %+v", got)
	}
}

func TestTrainingIsStoredAsOneOrRefused(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 1)
	of := on(t, finishedExport(t, s, d.Run.ID, 10, 100), 1)
	gone := of
	gone.ExportID = relabel.NewID()
	parent := relabel.NewID()
	for field, p := range map[string]relabel.Policy{
		"trained_on":   {TrainedOn: []relabel.TrainedOn{of, gone}},
		"trained_from": {TrainedFrom: &parent, TrainedOn: []relabel.TrainedOn{of}},
		"untrained":    {TrainedFrom: &d.Student.ID, Untrained: true},
	} {
		p.Name, p.BaseURL, p.Model, p.Server, p.Limits = "refused", "http://h/v1", "m", relabel.ServerVLLM, relabel.DefaultPolicyLimits
		_, err := s.CreatePolicy(ctx, p)
		wantCode(t, err, relabel.CodeInvalid)
		if e := err.(*relabel.Error); e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := s.FindPolicyByName(ctx, "refused"); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("a refused policy is stored: %v", err)
	}
}

func TestWhatAnExportSaysAboutTrainingOnIt(t *testing.T) {
	n := 7
	done := relabel.Export{ID: relabel.NewID(), State: relabel.ExportDone, Rows: 40, Trajectories: &n, Files: []relabel.ExportFile{{Path: "README.md", SHA256: "r"}, {Path: "manifest.json", SHA256: "m"}}}
	run := relabel.Run{Name: "r", Trainer: &relabel.Trainer{Epochs: 3}}
	of, err := done.Trains(run, nil)
	must(t, err)
	if want := (relabel.TrainedOn{ExportID: done.ID, Run: "r", Epochs: 3, EpochsFrom: relabel.EpochsTrainer, Trajectories: 7, States: 40, ManifestSHA256: "m"}); !reflect.DeepEqual(of, want) {
		t.Errorf("%+v", of)
	}
	open, old := done, done
	open.State, old.Trajectories = relabel.ExportRunning, nil
	for _, c := range []struct {
		e     relabel.Export
		run   relabel.Run
		field string
	}{{open, run, "export"}, {old, run, "export"}, {done, relabel.Run{}, "epochs"}, {done, relabel.Run{Trainer: &relabel.Trainer{}}, "epochs"}} {
		_, err := c.e.Trains(c.run, nil)
		wantCode(t, err, relabel.CodeInvalid)
		if e := err.(*relabel.Error); e.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}
