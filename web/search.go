package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"relabel"
	"relabel/web/show"
)

var searchKeys = []shortcut{{"j k", "match"}, {"Enter", "open it"}, {"/", "search"}, {"n", "search on"}, {"Esc", "stop"}}

// searchPath is the path of the page, and below /v1 of REST.
const searchPath = "/trajectories/search"

// searchView is a search in the texts of the trajectories that the list's filter selects.
type searchView struct {
	listView
	Text  string
	Found []foundRow
	tally      // of all pages up to this one
	Here  int  // trajectories that this page found
	Begun bool // this is not the first page
}

// Asked reports whether there is a text to search for.
func (v searchView) Asked() bool { return strings.TrimSpace(v.Text) != "" }

// Whole reports whether all trajectories were searched.
func (v searchView) Whole() bool { return v.Next == "" && v.Searched >= v.Total }

// foundRow is a trajectory that contains the text.
type foundRow struct {
	listRow
	Matches, Places int
	Hits            []hit
	All             string // address of all its matches
}

// tally is the progress of a search over all pages so far, which addresses of further pages carry.
type tally struct {
	Searched, FoundIn int
	Bytes             int64
}

func (t tally) String() string { return fmt.Sprintf("%d-%d-%d", t.Searched, t.FoundIn, t.Bytes) }

// Read is the amount of text that was searched.
func (t tally) Read() string { return show.Size(int(t.Bytes)) }

func tallyOf(word string) (t tally, err error) {
	if word == "" {
		return t, nil
	}
	n, err := fmt.Sscanf(word, "%d-%d-%d", &t.Searched, &t.FoundIn, &t.Bytes)
	if err != nil || n != 3 || t.String() != word || min(int64(t.Searched), int64(t.FoundIn), t.Bytes) < 0 {
		return tally{}, relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to a search").On("so_far")
	}
	return t, nil
}

func (v *viewer) showSearch(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	filter, err := v.filterOf(r.Context(), q)
	if err != nil {
		return err
	}
	view := searchView{Text: q.Get("text")}
	if len(view.Text) > relabel.MostSearchedFor {
		return relabel.Errorf(relabel.CodeInvalid, "must have at most %d bytes", relabel.MostSearchedFor).On("text")
	}
	if err := v.nameFilter(r.Context(), filter, &view.listView); err != nil {
		return err
	}
	if wants(r, "found") && view.Asked() {
		if err := v.search(r.Context(), q, filter, &view); err != nil {
			return err
		}
	}
	if wants(r, "filter") {
		if err := v.searchForm(r.Context(), q, &view); err != nil {
			return err
		}
	}
	return v.render(w, r, page{Template: "search", Title: "Search in texts", Section: "Trajectories", Crumbs: view.crumbs(), Keys: searchKeys, Scripts: []string{"list.js", "search.js"}, View: view})
}

// search continues the search after the previous page.
func (v *viewer) search(ctx context.Context, q url.Values, filter relabel.TrajectoryFilter, view *searchView) error {
	before, err := tallyOf(q.Get("so_far"))
	if err != nil {
		return err
	}
	found, err := v.Store.SearchTexts(ctx, filter, relabel.TrajectorySort(q.Get("sort")), relabel.TextSearch{Text: view.Text, After: q.Get("after")})
	if err != nil {
		return err
	}
	view.Total, view.Of, view.Exact = found.Total, found.Of, found.Exact
	view.Begun, view.Here = q.Get("after") != "", len(found.Items)
	view.tally = tally{before.Searched + found.Searched, before.FoundIn + len(found.Items), before.Bytes + found.Bytes}
	to := listAddress{searchPath, q}
	if found.Next != "" {
		view.Next = to.page("after", found.Next) + "&so_far=" + view.tally.String()
	}
	if view.Begun {
		view.First = to.with("", "")
	}
	view.JSON = listAddress{"/v1" + searchPath, q}.with("", "")
	return v.foundRows(ctx, found.Items, view)
}

// foundRows adds the found trajectories with their matches.
func (v *viewer) foundRows(ctx context.Context, found []relabel.TextFound, view *searchView) error {
	list := make([]relabel.Trajectory, len(found))
	for i, f := range found {
		list[i] = f.Trajectory
	}
	rows, err := v.listRows(ctx, list, columns{Run: view.Run == nil})
	for i, row := range rows {
		base := "/trajectories/" + row.ID.String()
		one := foundRow{listRow: row, Matches: found[i].Matches, Places: found[i].Places, All: base + "/find?" + url.Values{"q": {view.Text}}.Encode()}
		for _, m := range found[i].First {
			one.Hits = append(one.Hits, hit{m, linkOf(m, base, "")})
		}
		view.Found = append(view.Found, one)
	}
	return err
}

func (v *viewer) searchForm(ctx context.Context, q url.Values, view *searchView) (err error) {
	place := listPlace{Path: searchPath, Columns: columns{Task: true, Run: true, Iteration: true}}
	if view.Form, err = v.filterForm(ctx, place, q, view.listView); err != nil {
		return err
	}
	form := &view.Form
	about := form.Main[0] // q
	about.Label = "about it"
	form.Used = form.Used || about.Value != ""
	form.More = append([]control{about}, form.More...)
	form.Main[0] = control{Name: "text", Label: "text", Type: "search", Value: view.Text, Title: "ignoring case, in actions, labels, observations, problem statements, submissions and test output"}
	form.Do = "Search"
	if form.All != "" {
		form.All = listAddress{searchPath, url.Values{"sort": q["sort"], "text": q["text"]}}.with("", "")
	}
	return nil
}
