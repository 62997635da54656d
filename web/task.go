package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"relabel"
)

// sidesShown is how many trajectories of a task stand side by side on a page.
const sidesShown = 20

// taskView is a task with its trajectories.
type taskView struct {
	relabel.Task
	Set         relabel.Taskset
	Problem     body
	Hints       *body
	Gold, Tests patchView
	Sides       []taskSide
	A, B        string // what comparing begins with
	Next, First string
}

// taskSide is one trajectory of a task beside the others.
type taskSide struct {
	relabel.Trajectory
	Run, Student string
	RunID        relabel.ID
	NewRun       bool // it is the first of its run here
	Ribbon       []ribbonPiece
	RibbonWords  string
	Differs      int // the first turn whose label differs; 0: none
}

// ribbonPiece is a turn in a small ribbon.
type ribbonPiece struct{ Class, Sign string }

func (v *viewer) showTask(w http.ResponseWriter, r *http.Request) error {
	set, err := v.taskset(r)
	if err != nil {
		return err
	}
	task, err := v.findTask(r.Context(), set.ID, r.PathValue("instance"))
	if err != nil {
		return err
	}
	view := taskView{Task: task, Set: set, Problem: wholeBody(task.ProblemStatement), Gold: viewPatch(task.Patch), Tests: viewPatch(task.TestPatch)}
	if strings.TrimSpace(task.HintsText) != "" {
		view.Hints = new(wholeBody(task.HintsText))
	}
	list, err := v.Store.ListTrajectories(r.Context(), relabel.TrajectoryFilter{TaskID: &task.ID}, relabel.Newest, relabel.Page{After: r.URL.Query().Get("after"), Limit: sidesShown})
	if err != nil {
		return err
	}
	if view.Sides, err = v.sides(r.Context(), list.Items); err != nil {
		return err
	}
	view.A, view.B = twoToCompare(list.Items)
	view.Next, view.First = pageLinks(r, list.Next)
	return v.render(w, r, page{Template: "task", Title: plain(task.InstanceID), Section: "Tasks", Crumbs: tasksetCrumbs(set), View: view})
}

// sides shows trajectories beside each other.
func (v *viewer) sides(ctx context.Context, list []relabel.Trajectory) ([]taskSide, error) {
	runs, err := v.runNames(ctx, list)
	if err != nil {
		return nil, err
	}
	students := map[relabel.ID]string{}
	sides := make([]taskSide, len(list))
	for i, t := range list {
		if _, known := students[t.IterationID]; !known {
			if students[t.IterationID], err = v.studentName(ctx, t.IterationID); err != nil {
				return nil, err
			}
		}
		heads, err := v.Store.ListHeads(ctx, t.ID, t.Trail)
		if err != nil {
			return nil, err
		}
		sides[i] = taskSide{Trajectory: t, Run: runs[t.RunID], RunID: t.RunID, Student: students[t.IterationID], NewRun: i == 0 || list[i-1].RunID != t.RunID}
		sides[i].addRibbon(heads)
	}
	return sides, nil
}

func (v *viewer) studentName(ctx context.Context, iteration relabel.ID) (string, error) {
	it, _, err := v.Store.FindIteration(ctx, iteration)
	if err != nil {
		return "", err
	}
	return v.policyName(ctx, it.StudentID)
}

// addRibbon adds who acted at each turn, and how the labels stand to it.
func (s *taskSide) addRibbon(heads []relabel.TurnHead) {
	var differ []string
	teacher := 0
	for _, h := range heads {
		piece := ribbonPiece{Class: string(h.Executor)}
		switch {
		case h.Executor == relabel.Teacher:
			teacher++
		case h.Label == relabel.Missing:
			piece = ribbonPiece{"student missing", "!"}
		case h.Agrees != nil && *h.Agrees:
			piece.Class = "student equal"
		case h.Agrees != nil:
			piece = ribbonPiece{"student different", "▲"}
			if differ = append(differ, fmt.Sprint(h.T)); s.Differs == 0 {
				s.Differs = h.T
			}
		}
		s.Ribbon = append(s.Ribbon, piece)
	}
	s.RibbonWords = fmt.Sprintf("%d turns, %d by the teacher", len(heads), teacher)
	if len(differ) > 0 {
		s.RibbonWords += "; the label differs at turn " + strings.Join(differ, ", ")
	}
}

// twoToCompare proposes which two to compare: the newest that passed and the newest that
// did not, or the newest two.
func twoToCompare(list []relabel.Trajectory) (a, b string) {
	var passed, failed *relabel.Trajectory
	for i := range list {
		switch t := &list[i]; {
		case t.Turns == 0:
		case t.Resolved != nil && *t.Resolved && passed == nil:
			passed = t
		case t.Resolved != nil && !*t.Resolved && failed == nil:
			failed = t
		}
	}
	switch {
	case passed != nil && failed != nil:
		return passed.ID.String(), failed.ID.String()
	case len(list) >= 2:
		return list[0].ID.String(), list[1].ID.String()
	}
	return "", ""
}
