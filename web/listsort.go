package web

import (
	"maps"
	"net/http"
	"net/url"

	"relabel"
)

type heading struct {
	Text, Class, Title string
	Link               string // sorts by it; "" if a list is not sorted by that
	Sorted             string // ascending or descending, as it is by now
}

// sorting is the order of a column at the first and at the second click.
type sorting struct {
	first, second relabel.TrajectorySort
	descends      bool // the first one does
}

// listColumns are the columns of lists.
var listColumns = []struct {
	name, class, title string
	sorting
}{
	{name: "A · B", title: "select two to compare"},
	{name: "task"},
	{name: "outcome"},
	{name: "run"},
	{name: "iteration"},
	{name: "who acted", title: "the executor of each turn, and whether the label agrees with the student’s action"},
	{"first ▲", "n", "the first turn whose label differs from the student’s action", sorting{relabel.EarliestDifference, relabel.LatestDifference, false}},
	{"agreement", "n", "share of student turns whose label agrees with the action", sorting{relabel.LowestAgreement, relabel.HighestAgreement, false}},
	{"score", "n", "nDCG of the ranked answer, of tasks to localise", sorting{relabel.HighestScore, relabel.LowestScore, true}},
	{"turns", "n", "", sorting{relabel.MostTurns, relabel.FewestTurns, true}},
	{"tokens", "n", "of executed actions and labels, prompts and answers together", sorting{relabel.MostTokens, relabel.FewestTokens, true}},
	{name: "took", class: "n", title: "from the first claim to the end"},
	{"drawn", "", "when its iteration was started, UTC", sorting{relabel.Newest, relabel.Oldest, true}},
	{name: "student"},
	{name: "flags", title: "flags of its reviews"},
}

// headingsOf are the headings of a list's columns.
func headingsOf(has columns, sort relabel.TrajectorySort, to listAddress) (all []heading) {
	if sort == "" {
		sort = relabel.Newest
	}
	there := map[string]bool{"A · B": has.Pick, "task": has.Task, "run": has.Run, "iteration": has.Iteration, "student": has.Student, "score": has.Score}
	for _, c := range listColumns {
		if is, some := there[c.name]; some && !is {
			continue
		}
		h := heading{Text: c.name, Class: c.class, Title: c.title}
		if c.first != "" {
			next := c.first
			if sort == c.first {
				next = c.second
			}
			h.Link = to.with("sort", string(next))
			if sort == c.first || sort == c.second {
				h.Sorted = "ascending"
				if (sort == c.first) == c.descends {
					h.Sorted = "descending"
				}
			}
		}
		all = append(all, h)
	}
	return all
}

// listAddress builds addresses of pages of a list.
type listAddress struct {
	path string
	now  url.Values
}

// with is the first page with one parameter changed.
func (a listAddress) with(name, value string) string {
	q := url.Values{}
	for n, values := range a.now {
		if len(values) > 0 && values[0] != "" && n != "after" && n != "before" && n != "so_far" && n != "part" {
			q.Set(n, values[0])
		}
	}
	if name != "" {
		q.Set(name, value)
	}
	if value == "" || name == "sort" && value == string(relabel.Newest) {
		q.Del(name)
	}
	if len(q) == 0 {
		return a.path
	}
	return a.path + "?" + q.Encode()
}

// narrowed is the first page with more parameters.
func (a listAddress) narrowed(more url.Values) string {
	to := listAddress{a.path, url.Values{}}
	maps.Copy(to.now, a.now)
	maps.Copy(to.now, more)
	return to.with("", "")
}

// page is another page of the list, "" without a place.
func (a listAddress) page(name, place string) string {
	if place == "" {
		return ""
	}
	return a.with(name, place)
}

// pageLinks are the addresses of the next page of the list at r's address and, on a later page,
// of the first.
func pageLinks(r *http.Request, next string) (nextLink, firstLink string) {
	to := listAddress{r.URL.EscapedPath(), r.URL.Query()}
	if to.now.Get("after") != "" {
		firstLink = to.with("", "")
	}
	return to.page("after", next), firstLink
}
