package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// turnsAtFirst is how many cards a page begins with; the others' texts come when they are
// reached. turnsAtOnce is how many may be asked for in one go.
const (
	turnsAtFirst = 4
	turnsAtOnce  = 20
)

// trajectoryView is a trajectory with the heads of all its turns.
type trajectoryView struct {
	relabel.Trajectory
	Shown      int // the attempt whose turns are shown
	Attempts   []relabel.Attempt
	Run        relabel.Run
	Iteration  relabel.Iteration
	Teacher    string
	Student    string
	Task       relabel.Task
	Problem    show.Body
	Heads      []show.Head
	Course     show.Course
	Teachers   int // turns that the teacher executed
	Tokens     relabel.Usage
	Cards      []turnView // the first ones, or those asked for
	Outcome    outcomeView
	Again      againView
	Reviews    reviewsView
	Operations []operationLink
	names      map[relabel.ID]string
}

// Base is the trajectory's address.
func (v trajectoryView) Base() string { return "/trajectories/" + v.ID.String() }

// API is the trajectory's address in the REST interface.
func (v trajectoryView) API() string { return "/v1/trajectories/" + v.ID.String() }

// Query is what an address needs to lead to the attempt that is shown.
func (v trajectoryView) Query() string {
	if v.Shown == v.Trail {
		return ""
	}
	return fmt.Sprintf("?attempt=%d", v.Shown)
}

// Began is the attempt that began the turns that are shown, which later ones went on with.
func (v trajectoryView) Began() int {
	for n := range v.Attempts {
		if v.continues(n + 1) {
			return n + 1
		}
	}
	return v.Shown
}

// Rest are the heads of the turns that no card is there of yet.
func (v trajectoryView) Rest() []show.Head { return v.Heads[len(v.Cards):] }

// Troubled is whether something went wrong in a turn.
func (v trajectoryView) Troubled() bool {
	return slices.ContainsFunc(v.Heads, func(h show.Head) bool { return h.Trouble != "" })
}

// Width is how wide a ribbon's cells are.
func (v trajectoryView) Width() string {
	switch n := len(v.Heads); {
	case n <= 40:
		return "broad"
	case n <= 150:
		return "middle"
	}
	return "narrow"
}

func (v *viewer) trajectoryRoutes() routes {
	to := routes{
		"GET /trajectories":                    v.showTrajectories,
		"GET " + searchPath:                    v.showSearch,
		"GET /trajectories/{id}":               v.showTrajectory,
		"GET /trajectories/{id}/turns":         v.showCards,
		"GET /trajectories/{id}/turns/{t}":     v.showTurn,
		"GET /trajectories/{id}/turns/{t}/raw": v.showRaw,
		"GET /trajectories/{id}/file.html":     v.writeFile,
		"GET /trajectories/{id}/find":          v.showFound,
		"GET /trajectories/{id}/trainer":       v.showTrainer,
		"GET /trajectories/{id}/patch":         v.showPatch,
		"GET /trajectories/{id}/test-output":   v.showOutput,
	}
	v.addOperation(to, "/trajectories/{id}/relabel", v.relabelTrajectory)
	v.addOperation(to, "/trajectories/{id}/verify", v.verifyTrajectory)
	return to
}

// crumbs are the way to a trajectory.
func (v trajectoryView) crumbs() []crumb {
	return []crumb{{"Home", "/"}, runCrumb(v.Run), iterationCrumb(v.Iteration)}
}

// crumbsBelow are the way to what belongs to a trajectory.
func (v trajectoryView) crumbsBelow() []crumb {
	return append(v.crumbs(), crumb{v.InstanceID, v.Base() + v.Query()})
}

// trajectoryKeys work on the page of a trajectory.
var trajectoryKeys = []shortcut{{"j k", "turn"}, {"n p", "differing label"}, {"g G", "ends"}, {"t", "go to"}, {"/", "find"}, {"e E", "open, close it, all"}, {"f", "flag or note"}}

func (v *viewer) showTrajectory(w http.ResponseWriter, r *http.Request) error {
	view, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	if err := v.listHeads(r.Context(), &view); err != nil {
		return err
	}
	if wants(r, "turns") {
		if view.Cards, err = v.cards(r.Context(), view, 1, min(turnsAtFirst, len(view.Heads))); err != nil {
			return err
		}
	}
	if wants(r, "outcome") {
		view.Outcome, err = v.outcome(r.Context(), view)
	} else if wants(r, "head") {
		view.Outcome, err = v.judged(r.Context(), view)
	}
	if err != nil {
		return err
	}
	if view.Reviews, err = v.reviewsOf(r, view.ID); err != nil {
		return err
	}
	if mayChange(r) && view.relabels() {
		view.Operations = []operationLink{{"Relabel…", view.Base() + "/relabel"}}
	}
	if mayChange(r) && view.State == relabel.Done {
		view.Operations = append(view.Operations, operationLink{"Grade again…", view.Base() + "/verify"})
	}
	follow := ""
	if !view.State.Terminal() {
		follow = view.API() + "/events"
	}
	return v.render(w, r, page{Follow: follow, Template: "trajectory", Title: safetext.Plain(view.InstanceID) + ", iteration " + strconv.Itoa(view.Trajectory.Iteration), Section: "Trajectories", Crumbs: view.crumbs(),
		Keys: trajectoryKeys, Scripts: []string{"trajectory.js", "reviews.js"}, View: view})
}

// findTrajectory finds the trajectory in an address with what its head shows.
func (v *viewer) findTrajectory(r *http.Request) (trajectoryView, error) {
	id, err := pathID(r)
	if err != nil {
		return trajectoryView{}, err
	}
	view, err := v.trajectoryOf(r, id)
	if err != nil {
		return view, err
	}
	return view, v.chooseAttempt(r, &view)
}

// trajectoryOf finds a trajectory with what its head shows, and the turns that count.
func (v *viewer) trajectoryOf(r *http.Request, id relabel.ID) (view trajectoryView, err error) {
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
	view.Problem = show.Whole(view.Task.ProblemStatement)
	if view.Teacher, err = v.policyName(ctx, view.Run.TeacherID); err != nil {
		return view, err
	}
	if view.Student, err = v.policyName(ctx, view.Iteration.StudentID); err != nil {
		return view, err
	}
	view.Again, view.Shown = view.again(r), view.Trail
	return view, nil
}

// chooseAttempt reads which attempt is asked for.
func (v *viewer) chooseAttempt(r *http.Request, view *trajectoryView) (err error) {
	if view.Trajectory.Attempt == 0 {
		return nil
	}
	if view.Attempts, err = v.Store.ListAttempts(r.Context(), view.ID); err != nil {
		return err
	}
	if word := r.URL.Query().Get("attempt"); word != "" {
		if view.Shown, err = strconv.Atoi(word); err != nil || view.Shown < 1 || view.Shown > len(view.Attempts) {
			return relabel.Errorf(relabel.CodeNotFound, "No such attempt.")
		}
	}
	return nil
}

// listHeads reads the heads of all turns, and what can be said of them together.
func (v *viewer) listHeads(ctx context.Context, view *trajectoryView) error {
	heads, err := v.Store.ListHeads(ctx, view.ID, view.Shown)
	if err != nil {
		return err
	}
	view.Course = show.CourseOf(heads)
	for _, h := range heads {
		view.Heads = append(view.Heads, show.ViewHead(h, len(heads)))
		if h.Executor == relabel.Teacher {
			view.Teachers++
		}
		if h.Usage != nil {
			view.Tokens.PromptTokens += h.Usage.PromptTokens
			view.Tokens.CachedTokens += h.Usage.CachedTokens
			view.Tokens.CompletionTokens += h.Usage.CompletionTokens
		}
	}
	return nil
}

// cards shows turns from to to, each with as much of its texts as a card has.
func (v *viewer) cards(ctx context.Context, view trajectoryView, from, to int) ([]turnView, error) {
	if from > to {
		return nil, nil
	}
	excerpts, err := v.Store.ListExcerpts(ctx, view.ID, view.Shown, from, to+1, show.HeadShown, show.TailShown)
	if err != nil {
		return nil, err
	}
	return v.viewTurns(ctx, view, excerpts, func(t int) show.Limits {
		return show.Card(fmt.Sprintf("%s/turns/%d%s", view.Base(), t, view.Query()))
	})
}

// viewTurns shows turns with the calls of models that belong to them.
func (v *viewer) viewTurns(ctx context.Context, view trajectoryView, excerpts []relabel.TurnExcerpt, of func(t int) show.Limits) (cards []turnView, err error) {
	if len(excerpts) == 0 {
		return nil, nil
	}
	if view.names, err = v.namesOf(ctx, excerpts); err != nil {
		return nil, err
	}
	for _, e := range excerpts {
		if e.T <= len(view.Heads) {
			cards = append(cards, view.viewTurn(e, view.Heads[e.T-1], of(e.T)))
		}
	}
	return cards, v.addCalls(ctx, view, excerpts, cards)
}

// namesOf names the other teachers that answered, each asked for once.
func (v *viewer) namesOf(ctx context.Context, excerpts []relabel.TurnExcerpt) (map[relabel.ID]string, error) {
	names := map[relabel.ID]string{}
	for _, e := range excerpts {
		for _, o := range e.Others {
			if _, known := names[o.PolicyID]; known {
				continue
			}
			name, err := v.policyName(ctx, o.PolicyID)
			if err != nil {
				return nil, err
			}
			names[o.PolicyID] = name
		}
	}
	return names, nil
}

// addCalls gives actions and labels the calls that brought them: those of the attempts
// whose turns these are.
func (v *viewer) addCalls(ctx context.Context, view trajectoryView, excerpts []relabel.TurnExcerpt, cards []turnView) error {
	first, last := excerpts[0].T, excerpts[len(excerpts)-1].T
	calls, err := v.Store.ListTurnCalls(ctx, view.ID, first, last+1)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if c.T-first >= len(cards) || !view.continues(c.Attempt) {
			continue
		}
		card, turn := &cards[c.T-first], excerpts[c.T-first]
		switch {
		case c.Purpose == relabel.PurposeAct && c.PolicyID == turn.Action.PolicyID:
			card.Action.Asked = append(card.Action.Asked, show.ViewAsked(c))
		case c.Purpose == relabel.PurposeLabel && card.Label != nil && c.PolicyID == turn.Label.PolicyID:
			card.Label.Asked = append(card.Label.Asked, show.ViewAsked(c))
		}
	}
	return nil
}

// continues reports whether an attempt is the one shown, or one whose turns that has
// taken over.
func (v trajectoryView) continues(attempt int) bool {
	for attempt != v.Shown {
		if attempt < 1 || attempt > len(v.Attempts) || v.Attempts[attempt-1].ContinuedBy == nil {
			return false
		}
		attempt = *v.Attempts[attempt-1].ContinuedBy
	}
	return true
}
