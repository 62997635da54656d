package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"relabel"
)

// rowsShown is how many trajectories a page lists.
const rowsShown = 50

// choices are the words that a filter may take, in the order they are offered.
var choices = map[string][]string{
	"state":     {"queued", "running", "labelling", "verifying", "done", "failed", "cancelled"},
	"verdict":   {"passed", "failed", "error", "none"},
	"submitted": {"true", "false"},
	"end":       {"finish", "max_turns", "context", "wall_clock", "no_call"},
	"failure":   {"environment", "image_missing", "endpoint", "verifier", "secret", "internal"},
}

// choice is a filter that is chosen from words.
type choice struct {
	Name, Label, Chosen string
	Words               []string
}

// listView is a page of trajectories.
type listView struct {
	Trajectories []relabel.Trajectory
	Choices      []choice
	Query        url.Values
	Run          *relabel.Run
	Iteration    *relabel.Iteration
	Next, First  string // addresses; "" where there is none
	runs         map[relabel.ID]string
}

// RunName names the run of a listed trajectory.
func (v listView) RunName(id relabel.ID) string { return v.runs[id] }

func (v *viewer) listTrajectories(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	filter, err := filterOf(q)
	if err != nil {
		return err
	}
	view := listView{Query: q}
	if err := v.nameFilter(r, filter, &view); err != nil {
		return err
	}
	list, err := v.Store.ListTrajectories(r.Context(), filter, relabel.TrajectorySort(q.Get("sort")), relabel.Page{After: q.Get("after"), Limit: rowsShown})
	if err != nil {
		return err
	}
	view.Trajectories = list.Items
	if view.runs, err = v.runNames(r.Context(), list.Items); err != nil {
		return err
	}
	if list.Next != "" {
		view.Next = withAfter(q, list.Next)
	}
	if q.Get("after") != "" {
		view.First = withAfter(q, "")
	}
	for _, c := range []choice{{Name: "state", Label: "state"}, {Name: "verdict", Label: "verdict"}, {Name: "submitted", Label: "submitted"}, {Name: "end", Label: "end"}, {Name: "failure", Label: "infrastructure error"}} {
		c.Chosen, c.Words = q.Get(c.Name), choices[c.Name]
		view.Choices = append(view.Choices, c)
	}
	p := page{Template: "trajectories", Title: "Trajectories", Section: "Trajectories", View: view}
	if view.Run != nil {
		p.Crumbs = []crumb{{"Home", "/"}, runCrumb(*view.Run)}
	}
	return v.render(w, r, p)
}

// runNames names the runs of the listed trajectories, each asked for once.
func (v *viewer) runNames(ctx context.Context, list []relabel.Trajectory) (map[relabel.ID]string, error) {
	names := map[relabel.ID]string{}
	for _, t := range list {
		if _, known := names[t.RunID]; known {
			continue
		}
		run, err := v.Store.FindRun(ctx, t.RunID)
		if err != nil {
			return nil, err
		}
		names[t.RunID] = run.Name
	}
	return names, nil
}

// nameFilter finds the run and the iteration that the filter names.
func (v *viewer) nameFilter(r *http.Request, f relabel.TrajectoryFilter, view *listView) error {
	if f.IterationID != nil {
		it, _, err := v.Store.FindIteration(r.Context(), *f.IterationID)
		if err != nil {
			return err
		}
		view.Iteration = &it
	}
	if f.RunID != nil {
		run, err := v.Store.FindRun(r.Context(), *f.RunID)
		if err != nil {
			return err
		}
		view.Run = &run
	}
	return nil
}

// filterOf reads a filter from an address.
func filterOf(q url.Values) (f relabel.TrajectoryFilter, err error) {
	for name, words := range choices {
		if word := q.Get(name); word != "" && !slices.Contains(words, word) {
			return f, relabel.Errorf(relabel.CodeInvalid, "%.100q is none of %v", plain(word), words).On(name)
		}
	}
	for name, id := range map[string]**relabel.ID{"run": &f.RunID, "iteration": &f.IterationID, "task": &f.TaskID} {
		if word := q.Get(name); word != "" {
			parsed, err := relabel.ParseID(name, word)
			if err != nil {
				return f, err
			}
			*id = &parsed
		}
	}
	for name, is := range map[string]**bool{"submitted": &f.Submitted} {
		if word := q.Get(name); word != "" {
			yes := word == "true"
			*is = &yes
		}
	}
	f.InstanceID, f.Verdict = q.Get("instance"), relabel.VerdictKind(q.Get("verdict"))
	f.State, f.EndReason, f.Failure = relabel.TrajectoryState(q.Get("state")), relabel.EndReason(q.Get("end")), relabel.FailureReason(q.Get("failure"))
	return f, nil
}

// withAfter is the address of another page of the same list.
func withAfter(q url.Values, after string) string {
	other := url.Values{}
	for name, values := range q {
		if name != "after" && len(values) > 0 && values[0] != "" {
			other.Set(name, values[0])
		}
	}
	if after != "" {
		other.Set("after", after)
	}
	return "/trajectories?" + other.Encode()
}
