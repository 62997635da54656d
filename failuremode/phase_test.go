package failuremode_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/failuremode"
)

func TestActionsHaveThePhaseOfTheirFirstCall(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		action relabel.Action
		phase  relabel.ActionPhase
	}{
		{bash("ls -la src"), relabel.PhaseExplore},
		{bash("grep -rn 'def f' *.py 2>/dev/null"), relabel.PhaseExplore},
		{bash("git diff"), relabel.PhaseExplore},
		{bash("grep -i class a.py"), relabel.PhaseExplore},
		{bash("sed -n 1,20p a.py"), relabel.PhaseExplore},
		{bash("python -c 'print(1 if 2>1 else 0)'"), relabel.PhaseExplore},
		{call("str_replace_editor", `{"command": "view", "path": "/testbed/a.py"}`), relabel.PhaseExplore},
		{bash("sed -i 's/a/b/' a.py"), relabel.PhaseEdit},
		{bash("cat > a.py <<EOF\nx\nEOF"), relabel.PhaseEdit},
		{bash("git checkout a.py"), relabel.PhaseEdit},
		{bash("cd src && rm -f a.py"), relabel.PhaseEdit},
		{edit("/testbed/a.py"), relabel.PhaseEdit},
		{bash("cd /testbed && python -m pytest tests/test_a.py"), relabel.PhaseTest},
		{bash("python3 check.py"), relabel.PhaseTest},
		{bash("go test ./..."), relabel.PhaseTest},
		{call("finish", `{"message": "done"}`), relabel.PhaseFinish},
		{relabel.Action{Parse: relabel.NoCall}, relabel.PhaseNoCall},
	} {
		var c failuremode.Comparisons
		of.action.Status = relabel.Received
		c.Add(relabel.Turn{Executor: relabel.Student, Action: of.action, Label: &of.action})
		if all := c.List(); len(all) != 1 || all[0].StudentPhase != of.phase || all[0].Agreed != 1 {
			t.Errorf("%q: %+v, want %s", of.action.Message.ToolCalls, all, of.phase)
		}
	}
}

// TestNamesOfToolsAreNeverEqualOnlyWhenStored: what is no name of a tool is one unknown tool.
func TestNamesOfToolsAreNeverEqualOnlyWhenStored(t *testing.T) {
	t.Parallel()
	var c failuremode.Comparisons
	for _, name := range []string{"x\x00", "x\u2400", "\xff", strings.Repeat("x", 65), "two\nlines"} {
		a := call(name, "{}")
		a.Status = relabel.Received
		c.Add(relabel.Turn{Executor: relabel.Student, Action: a, Label: &a})
	}
	if all := c.List(); len(all) != 1 || all[0].StudentTool != "unknown" || all[0].Turns != 5 {
		t.Errorf("%+v", all)
	}
}

// TestDisagreementsCountEachStudentTurnWithALabelOnce: turns of the teacher and missing labels are
// not compared, and sums by tool and by phase equal the sum of all.
func TestDisagreementsCountEachStudentTurnWithALabelOnce(t *testing.T) {
	t.Parallel()
	received := func(a relabel.Action) relabel.Action { a.Status = relabel.Received; return a }
	look, test, done := received(bash("ls")), received(bash("pytest")), received(call("finish", "{}"))
	var c failuremode.Comparisons
	for _, turn := range []relabel.Turn{
		{Executor: relabel.Student, Action: look, Label: &look},
		{Executor: relabel.Student, Action: look, Label: &test},
		{Executor: relabel.Student, Action: done, Label: &test},
		{Executor: relabel.Student, Action: done, Label: &test},
		{Executor: relabel.Student, Action: look, Label: &relabel.Action{Status: relabel.Missing}},
		{Executor: relabel.Student, Action: look},
		{Executor: relabel.Teacher, Action: test, Label: &test},
	} {
		c.Add(turn)
	}
	it, other := relabel.Iteration{ID: relabel.NewID(), Kind: relabel.Collect, LabelRule: "every:3"}, relabel.Iteration{ID: relabel.NewID(), Kind: relabel.Evaluate}
	var tallies []relabel.ComparisonTally
	for _, comparison := range c.List() {
		for range 2 { // two tasks
			tallies = append(tallies, relabel.ComparisonTally{IterationID: it.ID, TaskID: relabel.NewID(), TurnComparison: comparison})
		}
	}
	report := failuremode.Disagreements(relabel.NewID(), []relabel.Iteration{it, other}, tallies)
	if len(report.Iterations) != 1 || report.Iterations[0].LabelRule != "every:3" {
		t.Fatalf("%+v", report)
	}
	d := report.Iterations[0]
	tools, phases, pairs := 0, 0, 0
	for _, of := range d.ByTool {
		tools += of.Count
	}
	for _, of := range d.ByPhase {
		phases += of.Count
	}
	for _, of := range d.Pairs {
		pairs += of.Turns
	}
	if d.Differ.Count != 6 || d.Differ.Of != 8 || tools != 6 || phases != 6 || pairs != 6 {
		t.Errorf("%+v", d)
	}
	if d.Pairs[0] != (relabel.PhasePair{Student: relabel.PhaseFinish, Teacher: relabel.PhaseTest, Turns: 4}) {
		t.Errorf("%+v", d.Pairs)
	}
}

func TestAnOverlongToolNameOfACutAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	cut := call(strings.Repeat("x", 8000), "{}")
	cut.Parse, cut.Status = relabel.CutByLength, relabel.Received
	var c failuremode.Comparisons
	c.Add(relabel.Turn{Executor: relabel.Student, Action: cut, Label: &cut})
	if all := c.List(); len(all) != 1 || all[0].StudentTool != "unknown" || all[0].TeacherTool != "unknown" {
		t.Errorf("%+v", all)
	}
}
