package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// turnsAtFirst is the number of cards that a page starts with; scripts fetch further ones when
// they come near the screen, at most turnsAtOnce per request.
const (
	turnsAtFirst = 4
	turnsAtOnce  = 20
)

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
	Finding    relabel.FailureFinding // zero before it is computed
	Judgings   []judgedView           // those that are done, the newest first
	Again      againView
	Reviews    reviewsView
	Operations []operationLink
}

// Base is the trajectory's address.
func (v trajectoryView) Base() string { return trajectoryPath(v.ID) }

// API is the trajectory's address in the REST interface.
func (v trajectoryView) API() string { return "/v1" + v.Base() }

// Query selects the shown attempt in an address.
func (v trajectoryView) Query() string {
	if v.Shown == v.Trail {
		return ""
	}
	return fmt.Sprintf("?attempt=%d", v.Shown)
}

// Began is the attempt that executed the first of the shown turns.
func (v trajectoryView) Began() int {
	for n := range v.Attempts {
		if v.continues(n + 1) {
			return n + 1
		}
	}
	return v.Shown
}

// Rest are the heads of the turns without a card.
func (v trajectoryView) Rest() []show.Head { return v.Heads[len(v.Cards):] }

// Troubled reports whether something failed in a turn.
func (v trajectoryView) Troubled() bool {
	return slices.ContainsFunc(v.Heads, func(h show.Head) bool { return h.Trouble != "" })
}

// Width is the class of a ribbon's cells by their number.
func (v trajectoryView) Width() string { return cellWidth(len(v.Heads)) }

func cellWidth(cells int) string {
	switch {
	case cells <= 40:
		return "broad"
	case cells <= 150:
		return "middle"
	}
	return "narrow"
}

func (v *viewer) trajectoryRoutes() routes {
	to := routes{
		"GET /trajectories":                    v.showTrajectories,
		"GET " + searchPath:                    v.showSearch,
		"GET /trajectories/{id}":               of(v.findWithHeads, v.showTrajectory),
		"GET /trajectories/{id}/turns":         of(v.findWithHeads, v.showCards),
		"GET /trajectories/{id}/turns/{t}":     of(v.findWithHeads, v.showTurn),
		"GET /trajectories/{id}/turns/{t}/raw": of(v.findTrajectory, v.showRaw),
		"GET /trajectories/{id}/file.html":     of(v.findWithHeads, v.writeFile),
		"GET /trajectories/{id}/find":          of(v.findTrajectory, v.showFound),
		"GET /trajectories/{id}/trainer":       v.showTrainer,
		"GET /trajectories/{id}/patch":         of(v.findTrajectory, v.showPatch),
		"GET /trajectories/{id}/test-output":   of(v.findTrajectory, v.showOutput),
	}
	v.addOperation(to, "/trajectories/{id}/relabel", on(v.findWithHeads, v.relabelTrajectory))
	v.addOperation(to, "/trajectories/{id}/verify", on(v.findTrajectory, v.verifyTrajectory))
	return to
}

func (v trajectoryView) crumbs() []crumb {
	return []crumb{home, runCrumb(v.Run), iterationCrumb(v.Iteration)}
}

// crumbsBelow lead to the pages below a trajectory.
func (v trajectoryView) crumbsBelow() []crumb {
	return append(v.crumbs(), crumb{v.InstanceID, v.Base() + v.Query()})
}

var trajectoryKeys = []shortcut{{"j k", "turn"}, {"n p", "differing label"}, {"g G", "ends"}, {"t", "go to"}, {"/", "find"}, {"e E", "open, close it, all"}, {"f", "flag or note"}}

func (v *viewer) showTrajectory(w http.ResponseWriter, r *http.Request, view trajectoryView) (err error) {
	if wants(r, "turns") {
		if view.Cards, err = v.cards(r.Context(), view, 1, min(turnsAtFirst, len(view.Heads))); err != nil {
			return err
		}
	}
	if wants(r, "outcome") {
		view.Outcome, err = v.outcome(r.Context(), view, view.cardLimits())
	} else if wants(r, "head") {
		view.Outcome, err = v.judged(r.Context(), view, view.cardLimits())
	}
	if err != nil {
		return err
	}
	if view.Finding, err = v.failureOf(r.Context(), view.ID); err != nil {
		return err
	}
	if view.Judgings, err = v.judgingsOf(r.Context(), view.ID); err != nil {
		return err
	}
	if view.Reviews, err = v.reviewsOf(r, view.ID); err != nil {
		return err
	}
	if mayChange(r) {
		view.Operations = trajectoryOperations(view)
	}
	follow := ""
	if !view.State.Terminal() {
		follow = view.API() + "/events"
	}
	return v.render(w, r, page{Follow: follow, Template: "trajectory", Title: safetext.Plain(view.InstanceID) + ", iteration " + strconv.Itoa(view.Trajectory.Iteration), Section: "Trajectories", Crumbs: view.crumbs(),
		Keys: trajectoryKeys, Scripts: []string{"trajectory.js", "reviews.js"}, View: view})
}

// findTrajectory finds the trajectory in an address with the data of its head.
func (v *viewer) findTrajectory(r *http.Request) (trajectoryView, error) {
	id, err := pathID(r, "id")
	if err != nil {
		return trajectoryView{}, err
	}
	view, err := v.trajectoryOf(r, id)
	if err != nil {
		return view, err
	}
	err = v.chooseAttempt(r, &view)
	return view, err
}

// findWithHeads is findTrajectory with the heads of its turns.
func (v *viewer) findWithHeads(r *http.Request) (trajectoryView, error) {
	view, err := v.findTrajectory(r)
	if err != nil {
		return view, err
	}
	err = v.listHeads(r.Context(), &view)
	return view, err
}

// trajectoryOf finds a trajectory with the data of its head, and shows its current turns.
func (v *viewer) trajectoryOf(r *http.Request, id relabel.ID) (view trajectoryView, err error) {
	l := load{ctx: r.Context()}
	read(&l, &view.Trajectory, v.Store.FindTrajectory, id)
	read(&l, &view.Run, v.Store.FindRun, view.RunID)
	read(&l, &view.Iteration, v.findIteration, view.IterationID)
	read(&l, &view.Task, v.Store.FindTaskOf, id)
	read(&l, &view.Teacher, v.policyName, view.Run.TeacherID)
	read(&l, &view.Student, v.policyName, view.Iteration.StudentID)
	view.Problem = show.Whole(view.Task.ProblemStatement)
	view.Again, view.Shown = view.again(r), view.Trail
	return view, l.err
}

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

// listHeads reads the heads of all turns, and summarizes them.
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

// cards shows turns from to to, with their texts cut to the limits of a card.
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

// viewTurns shows turns with the model calls that belong to them.
func (v *viewer) viewTurns(ctx context.Context, view trajectoryView, excerpts []relabel.TurnExcerpt, of func(t int) show.Limits) (cards []turnView, err error) {
	if len(excerpts) == 0 {
		return nil, nil
	}
	l, name := load{ctx: ctx}, remember(v.policyName)
	for _, e := range excerpts {
		if e.T > len(view.Heads) {
			continue
		}
		card := view.viewTurn(e, view.Heads[e.T-1], of(e.T))
		for i, o := range e.Others {
			read(&l, &card.Others[i].Policy, name, o.PolicyID)
		}
		cards = append(cards, card)
	}
	return cards, cmp.Or(l.err, v.addCalls(ctx, view, excerpts, cards))
}

// addCalls adds the model calls behind actions and labels, of the attempts whose turns are shown.
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

// continues reports whether an attempt is the shown one, or one whose turns it took over.
func (v trajectoryView) continues(attempt int) bool {
	for attempt != v.Shown {
		if attempt < 1 || attempt > len(v.Attempts) || v.Attempts[attempt-1].ContinuedBy == nil {
			return false
		}
		attempt = *v.Attempts[attempt-1].ContinuedBy
	}
	return true
}
