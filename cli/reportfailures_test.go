package cli

import (
	"strings"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/failuremode"
)

func differing() relabel.DisagreementReport {
	share := relabel.Proportion{Count: 3, Of: 4, Share: new(0.75), Low: new(0.3), High: new(0.95)}
	return failuremode.Disagreements(relabel.NewID(), []relabel.Iteration{{ID: iterationID, Kind: relabel.Collect, Number: 2, LabelRule: "every:3"}}, []relabel.ComparisonTally{
		{IterationID: iterationID, TaskID: relabel.NewID(), TurnComparison: relabel.TurnComparison{StudentTool: "execute_bash", StudentPhase: relabel.PhaseTest, TeacherTool: "str_replace_editor", TeacherPhase: relabel.PhaseEdit, Turns: share.Of, Agreed: share.Of - share.Count}},
		{IterationID: iterationID, TaskID: relabel.NewID(), TurnComparison: relabel.TurnComparison{StudentPhase: relabel.PhaseNoCall, TeacherTool: "finish", TeacherPhase: relabel.PhaseFinish, Turns: 5}},
	})
}

var iterationID = relabel.NewID()

func TestDisagreementsAreShownByPairsOfPhasesAndOfTools(t *testing.T) {
	var b strings.Builder
	for _, table := range disagreementTables(differing()) {
		noError(t, table.write(&b))
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"2 every:3 all all 8 of 9, 88.9%", "2 every:3 tool execute_bash 3 of 4", "2 no_call finish 5", "2 test edit 3", "2 no call finish 5 2 execute_bash str_replace_editor 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q: %s", want, text)
		}
	}
	heads, rows := failuremode.DisagreementTable(differing())
	var csv strings.Builder
	noError(t, evaluation.WriteCSV(&csv, heads, rows))
	found := 0
	for _, r := range recordsOf(t, csv.String()) {
		if r["by"] == "tool_pair" && r["iteration_id"] == iterationID.String() && (r["student"]+">"+r["teacher"]+">"+r["count"] == ">finish>5" || r["count"] == "3") {
			found++
		}
	}
	if found != 2 {
		t.Errorf("the CSV has %d pairs of tools: %s", found, csv.String())
	}
}

func TestTheCSVOfFailuresHasEachModeOfEachIteration(t *testing.T) {
	no := false
	report := failuremode.Report(relabel.NewID(), []relabel.Iteration{{ID: iterationID, Kind: relabel.Sample, Number: 4}}, []relabel.FailureTally{
		{IterationID: iterationID, TaskID: relabel.NewID(), Submitted: true, Resolved: &no, Mode: relabel.ModeWrongFile, Classified: true, Count: 2}})
	heads, rows := failuremode.Table(report, nil)
	var csv strings.Builder
	noError(t, evaluation.WriteCSV(&csv, heads, rows))
	for _, r := range recordsOf(t, csv.String()) {
		if r["kind"] != "sample" || r["iteration"] != "4" || r["by"] != "computed" {
			t.Errorf("a row is %v", r)
		}
		if r["what"] == string(relabel.ModeWrongFile) && (r["count"] != "2" || r["of"] != "2" || r["share"] != "1") {
			t.Errorf("the mode is %v", r)
		}
	}
}
