package web

import (
	"net/http"

	"relabel"
	"relabel/safetext"
)

const (
	exclusionsShown = 50
	// entriesShown is the number of entries that the page of an exclusion list names.
	entriesShown = 1000
)

func (v *viewer) exclusionRoutes() routes {
	return routes{"GET /exclusions": v.listExclusions, "GET /exclusions/{exclusion}": of(v.exclusionOf, v.showExclusion)}
}

// exclusionOf finds the exclusion list in an address, by id or name.
func (v *viewer) exclusionOf(r *http.Request) (relabel.Exclusion, error) {
	return named(r.Context(), r.PathValue("exclusion"), v.Store.FindExclusion, v.Store.FindExclusionByName)
}

// exclusionRow is an exclusion list with what it reserves.
type exclusionRow struct {
	relabel.Exclusion
	Reserves relabel.Reservation
}

func (v *viewer) listExclusions(w http.ResponseWriter, r *http.Request) error {
	lists, next, err := v.Store.ListExclusions(r.Context(), relabel.Page{After: r.URL.Query().Get("after"), Limit: exclusionsShown})
	if err != nil {
		return err
	}
	l := load{ctx: r.Context()}
	rows := make([]exclusionRow, len(lists))
	for i, e := range lists {
		rows[i].Exclusion = e
		read(&l, &rows[i].Reserves, v.Store.CountExcluded, e.ID)
	}
	if l.err != nil {
		return l.err
	}
	nextLink, first := pageLinks(r, next)
	return v.render(w, r, page{Template: "exclusions", Title: "Exclusion lists", Section: "Benchmarks", Crumbs: []crumb{{"Benchmarks", "/benchmarks"}},
		View: map[string]any{"Lists": rows, "Next": nextLink, "First": first}})
}

// exclusionPage is the page of an exclusion list.
type exclusionPage struct {
	exclusionRow
	List []string // the first entries
}

func (v *viewer) showExclusion(w http.ResponseWriter, r *http.Request, e relabel.Exclusion) error {
	view := exclusionPage{exclusionRow: exclusionRow{Exclusion: e}}
	entries, err := v.Store.ListExclusionEntries(r.Context(), e.ID)
	if err != nil {
		return err
	}
	view.List = entries[:min(len(entries), entriesShown)]
	if view.Reserves, err = v.Store.CountExcluded(r.Context(), e.ID); err != nil {
		return err
	}
	return v.render(w, r, page{Template: "exclusion", Title: "Exclusion list " + safetext.Plain(e.Name), Section: "Benchmarks",
		Crumbs: []crumb{{"Benchmarks", "/benchmarks"}, {"Exclusion lists", "/exclusions"}}, View: view})
}
