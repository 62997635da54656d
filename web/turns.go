package web

import (
	"fmt"
	"net/http"
	"strconv"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// showCards shows the cards of turns from to to. The page of a trajectory fetches its part
// "cards". With whole, texts are not cut.
func (v *viewer) showCards(w http.ResponseWriter, r *http.Request, view trajectoryView) (err error) {
	q := r.URL.Query()
	if t := number(q.Get("t"), 0); t > 0 { // the go-to box, without scripts
		http.Redirect(w, r, fmt.Sprintf("%s/turns/%d%s", view.Base(), t, view.Query()), http.StatusSeeOther)
		return nil
	}
	from, to := number(q.Get("from"), 0), number(q.Get("to"), 0)
	if from < 1 || to < from || to-from >= turnsAtOnce {
		return relabel.Errorf(relabel.CodeInvalid, "from and to must be turn numbers that span at most %d turns", turnsAtOnce).On("from")
	}
	if from > len(view.Heads) {
		return relabel.Errorf(relabel.CodeNotFound, "No such turn.")
	}
	to = min(to, len(view.Heads))
	if q.Get("whole") == "" {
		view.Cards, err = v.cards(r.Context(), view, from, to)
	} else {
		view.Cards, err = v.wholeCards(r, view, from, to)
	}
	if err != nil {
		return err
	}
	return v.render(w, r, page{Template: "turns", Title: fmt.Sprintf("Turns %d to %d of %s", from, to, safetext.Plain(view.InstanceID)), Section: "Trajectories", Crumbs: view.crumbsBelow(),
		Scripts: []string{"trajectory.js"}, View: view})
}

func (v *viewer) wholeCards(r *http.Request, view trajectoryView, from, to int) ([]turnView, error) {
	turns, err := v.Store.ListAttemptTurns(r.Context(), view.ID, view.Shown, from, to+1)
	if err != nil {
		return nil, err
	}
	var excerpts []relabel.TurnExcerpt
	for _, turn := range turns {
		excerpts = append(excerpts, wholeExcerpt(turn))
	}
	return v.viewTurns(r.Context(), view, excerpts, func(int) show.Limits { return show.Limits{} })
}

func (v *viewer) showTurn(w http.ResponseWriter, r *http.Request, view trajectoryView) error {
	t, err := strconv.Atoi(r.PathValue("t"))
	if err != nil || t < 1 || t > len(view.Heads) {
		return relabel.Errorf(relabel.CodeNotFound, "No such turn.")
	}
	if view.Cards, err = v.wholeCards(r, view, t, t); err != nil {
		return err
	}
	return v.render(w, r, page{Template: "turns", Title: fmt.Sprintf("Turn %d of %s", t, safetext.Plain(view.InstanceID)), Section: "Trajectories", Crumbs: view.crumbsBelow(),
		Keys: []shortcut{{"j k", "turn"}}, Scripts: []string{"trajectory.js"}, View: view})
}

// showRaw returns one text of a turn unchanged: of=action, label, or the number of an
// observation, from 0.
func (v *viewer) showRaw(w http.ResponseWriter, r *http.Request, view trajectoryView) error {
	t := number(r.PathValue("t"), 0)
	turns, err := v.Store.ListAttemptTurns(r.Context(), view.ID, view.Shown, t, t+1)
	if err != nil {
		return err
	}
	if len(turns) != 1 {
		return relabel.Errorf(relabel.CodeNotFound, "No such turn.")
	}
	text, err := rawOf(turns[0], r.URL.Query().Get("of"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text) // a client that is gone reads nothing
	return nil
}

func rawOf(turn relabel.Turn, of string) ([]byte, error) {
	switch k := number(of, -1); {
	case of == "action":
		return turn.Action.Written(), nil
	case of == "label" && turn.Label != nil && turn.Label.Status == relabel.Received:
		return turn.Label.Written(), nil
	case k >= 0 && k < len(turn.Observations):
		return []byte(turn.Observations[k].Content), nil
	}
	return nil, relabel.Errorf(relabel.CodeNotFound, "The turn has no such text.")
}

// number reads a number; otherwise is the default.
func number(s string, otherwise int) int {
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		return int(n)
	}
	return otherwise
}
