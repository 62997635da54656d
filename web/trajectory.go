package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"relabel"
)

// turnsShown is how many turns a page shows; turnsRead how many are read in one go.
const (
	turnsShown = 50
	turnsRead  = 50
)

// trajectoryView is a trajectory with a page of its turns.
type trajectoryView struct {
	relabel.Trajectory
	Run           relabel.Run
	Iteration     relabel.Iteration
	Teacher       string
	Student       string
	Task          relabel.Task
	Problem       body
	Ribbon        []cell
	Teachers      int // turns that the teacher executed
	Turns         []turnView
	From, To      int
	Earlier, Next int // first turn of the other pages; 0 where there is none
	Outcome       outcomeView
}

// Base is the trajectory's address.
func (v trajectoryView) Base() string { return "/trajectories/" + v.ID.String() }

// API is the trajectory's address in the REST interface.
func (v trajectoryView) API() string { return "/v1/trajectories/" + v.ID.String() }

func (v *viewer) trajectoryRoutes() routes {
	return routes{
		"GET /trajectories":                  v.listTrajectories,
		"GET /trajectories/{id}":             v.showTrajectory,
		"GET /trajectories/{id}/turns/{t}":   v.showTurn,
		"GET /trajectories/{id}/patch":       v.showPatch,
		"GET /trajectories/{id}/test-output": v.showOutput,
	}
}

// crumbs are the way to a trajectory.
func (v trajectoryView) crumbs() []crumb {
	return []crumb{{"Home", "/"}, runCrumb(v.Run), iterationCrumb(v.Iteration)}
}

// crumbsBelow are the way to what belongs to a trajectory.
func (v trajectoryView) crumbsBelow() []crumb {
	return append(v.crumbs(), crumb{v.InstanceID, v.Base()})
}

func (v *viewer) showTrajectory(w http.ResponseWriter, r *http.Request) error {
	view, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	from := 1
	if word := r.URL.Query().Get("from"); word != "" {
		if from, err = strconv.Atoi(word); err != nil || from < 1 {
			return relabel.Errorf(relabel.CodeInvalid, "a turn's number is wanted").On("from")
		}
	}
	view.From, view.To = from, min(from+turnsShown-1, view.Trajectory.Turns)
	if from > 1 {
		view.Earlier = max(1, from-turnsShown)
	}
	if view.To < view.Trajectory.Turns {
		view.Next = view.To + 1
	}
	if err := v.readTurns(r.Context(), &view); err != nil {
		return err
	}
	if view.Outcome, err = v.outcome(r.Context(), view.Trajectory); err != nil {
		return err
	}
	return v.render(w, r, page{Template: "trajectory", Title: plain(view.InstanceID) + ", iteration " + strconv.Itoa(view.Trajectory.Iteration), Section: "Trajectories", Crumbs: view.crumbs(),
		Keys: []shortcut{{"j k", "turn"}, {"n p", "differing label"}, {"g G", "ends"}}, Scripts: []string{"keys.js"}, View: view})
}

// findTrajectory finds a trajectory with what its head shows.
func (v *viewer) findTrajectory(r *http.Request) (view trajectoryView, err error) {
	id, err := pathID(r)
	if err != nil {
		return view, err
	}
	ctx := r.Context()
	if view.Trajectory, err = v.Store.FindTrajectory(ctx, id); err != nil {
		return view, err
	}
	if view.Run, err = v.Store.FindRun(ctx, view.RunID); err != nil {
		return view, err
	}
	if view.Iteration, _, err = v.Store.FindIteration(ctx, view.IterationID); err != nil {
		return view, err
	}
	if view.Task, err = v.Store.FindTask(ctx, view.TaskID); err != nil {
		return view, err
	}
	view.Problem = wholeBody(view.Task.ProblemStatement)
	if view.Teacher, err = v.policyName(ctx, view.Run.TeacherID); err != nil {
		return view, err
	}
	view.Student, err = v.policyName(ctx, view.Iteration.StudentID)
	return view, err
}

// readTurns reads every turn for the ribbon, a few at a time, and keeps those that the
// page shows.
func (v *viewer) readTurns(ctx context.Context, view *trajectoryView) error {
	for from := 1; from <= view.Trajectory.Turns; from += turnsRead {
		turns, err := v.Store.ListTurns(ctx, view.ID, from, turnsRead)
		if err != nil {
			return err
		}
		for _, turn := range turns {
			view.Ribbon = append(view.Ribbon, ribbonCell(view, turn))
			if turn.Executor == relabel.Teacher {
				view.Teachers++
			}
			if turn.T >= view.From && turn.T <= view.To {
				full := fmt.Sprintf("%s/turns/%d", view.Base(), turn.T)
				view.Turns = append(view.Turns, viewTurn(turn, view.ID, func(s string) body { return cappedBody(s, full) }))
			}
		}
		if len(turns) < turnsRead {
			return nil
		}
	}
	return nil
}

// ribbonCell says who acted at a turn, and whether its label agrees.
func ribbonCell(view *trajectoryView, turn relabel.Turn) cell {
	c := cell{T: turn.T, Class: string(turn.Executor), Title: fmt.Sprintf("turn %d: %s", turn.T, turn.Executor)}
	if a := agreementOf(turn); a.Word != "" {
		c.Class += " " + a.Class
		c.Sign = a.Sign
		c.Title += ", " + a.Word
	}
	page := (turn.T-1)/turnsShown*turnsShown + 1
	if turn.T >= view.From && turn.T <= view.To {
		c.Link = fmt.Sprintf("#t%d", turn.T)
	} else {
		c.Link = fmt.Sprintf("%s?from=%d#t%d", view.Base(), page, turn.T)
	}
	return c
}

// showTurn shows one turn, whole.
func (v *viewer) showTurn(w http.ResponseWriter, r *http.Request) error {
	view, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	t, err := strconv.Atoi(r.PathValue("t"))
	if err != nil || t < 1 || t > view.Trajectory.Turns {
		return relabel.Errorf(relabel.CodeNotFound, "There is no such turn.")
	}
	turns, err := v.Store.ListTurns(r.Context(), view.ID, t, 1)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return relabel.Errorf(relabel.CodeNotFound, "There is no such turn.")
	}
	view.Turns = []turnView{viewTurn(turns[0], view.ID, wholeBody)}
	view.From, view.Earlier = t, t-1
	if t < view.Trajectory.Turns {
		view.Next = t + 1
	}
	return v.render(w, r, page{Template: "turn", Title: fmt.Sprintf("Turn %d of %s", t, plain(view.InstanceID)), Section: "Trajectories", Crumbs: view.crumbsBelow(),
		Keys: []shortcut{{"j k", "turn"}}, Scripts: []string{"keys.js"}, View: view})
}

// textView is a long text on a page of its own.
type textView struct {
	trajectoryView
	What  string
	Lines []line
	Body  body
}

// text is the page of a long text of the trajectory.
func (v trajectoryView) text(t textView) page {
	t.trajectoryView = v
	return page{Template: "text", Title: t.What + " of " + plain(v.InstanceID), Section: "Trajectories", Crumbs: v.crumbsBelow(), View: t}
}

func (v *viewer) showPatch(w http.ResponseWriter, r *http.Request) error {
	view, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	patch, err := v.Store.FindPatch(r.Context(), view.ID)
	if err != nil {
		return err
	}
	return v.render(w, r, view.text(textView{What: "Patch", Lines: diffLines(string(patch))}))
}

func (v *viewer) showOutput(w http.ResponseWriter, r *http.Request) error {
	view, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	verdict, err := v.Store.FindVerdict(r.Context(), view.ID)
	if err != nil {
		return err
	}
	return v.render(w, r, view.text(textView{What: "Test output", Body: wholeBody(strings.TrimRight(string(verdict.Output), "\n"))}))
}
