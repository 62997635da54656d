package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"relabel"
	"relabel/web/chart"
)

// startBody is the body of the start of an iteration.
type startBody struct {
	Student     string                `json:"student"`
	Kind        relabel.IterationKind `json:"kind,omitempty"`
	Beta        *float64              `json:"beta,omitempty"`
	Tasks       int                   `json:"tasks,omitempty"`
	Instances   []string              `json:"instances,omitempty"`
	HeldOut     bool                  `json:"held_out,omitempty"`
	Again       string                `json:"again,omitempty"`
	Generations int                   `json:"generations,omitempty"`
}

// startIteration asks for the next round with this round's student.
func (v *viewer) startIteration(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	rounds, err := v.rounds(r.Context(), run.ID)
	if err != nil {
		return operation{}, err
	}
	if err := v.addSpending(r.Context(), run.ID, rounds); err != nil {
		return operation{}, err
	}
	names, err := v.policyNames(r)
	if err != nil {
		return operation{}, err
	}
	student := or(chosen.Get("student"), nextStudent(rounds, names))
	ask := startBody{Student: student, Kind: relabel.IterationKind(or(chosen.Get("kind"), string(relabel.Collect)))}
	if err := ask.chooseTasks(chosen); err != nil {
		return operation{}, err
	}
	if ask.Generations, err = wholeNumber(chosen, "generations"); err != nil {
		return operation{}, err
	}
	if ask.Beta, err = fraction(chosen, "beta"); err != nil {
		return operation{}, err
	}
	path := "/runs/" + run.ID.String()
	d := operation{Title: "Start the next iteration of " + run.Name, Verb: "Start", Fields: startFields(run, ask, chosen, names, rounds), Back: path,
		Call: call{http.MethodPost, "/v1" + path + "/iterations", ask}, Done: madeIteration}
	n, err := v.countTrajectories(r.Context(), run, ask)
	if err != nil {
		return d, err
	}
	d.Notes = []string{fmt.Sprintf("Queues %s trajectories. Models are asked as soon as workers have slots.", chart.Grouped(int64(n)))}
	if run.Paused != nil {
		d.Notes = append(d.Notes, "The run is paused: nothing is rolled out before it goes on.")
	}
	d.Costs = costsOf(n, ask.Kind, rounds)
	return d, nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// wholeNumber reads a field that may stay empty.
func wholeNumber(chosen url.Values, name string) (int, error) {
	if chosen.Get(name) == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(chosen.Get(name))
	if err != nil || n < 0 || n > 100_000 {
		return 0, relabel.Errorf(relabel.CodeInvalid, "a whole number up to 100000 is wanted").On(name)
	}
	return n, nil
}

func fraction(chosen url.Values, name string) (*float64, error) {
	if chosen.Get(name) == "" {
		return nil, nil
	}
	x, err := strconv.ParseFloat(chosen.Get(name), 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a number from 0 to 1 is wanted").On(name)
	}
	return &x, nil
}

// nextStudent is the newest version of the last round's student: a checkpoint that was
// trained since is one. Names are those of policies, the newest first.
func nextStudent(rounds []round, names []string) string {
	if len(rounds) == 0 {
		return ""
	}
	last := rounds[len(rounds)-1].Student
	base, _, _ := strings.Cut(last, "@")
	for _, name := range names {
		if of, _, _ := strings.Cut(name, "@"); of == base {
			return name
		}
	}
	return last
}

// costsOf says what n trajectories will use, by the newest iteration of the same kind of
// which some have ended otherwise than by being cancelled.
func costsOf(n int, kind relabel.IterationKind, rounds []round) []cost {
	for i := len(rounds) - 1; i >= 0; i-- {
		r := rounds[i]
		ended := r.Ended - r.Progress.Trajectories[relabel.Cancelled]
		if r.Kind != kind || ended == 0 {
			continue
		}
		from := fmt.Sprintf("by %s %d: %s trajectories", r.Kind, r.Number, chart.Grouped(int64(ended)))
		per := float64(n) / float64(ended)
		var tokens int64
		for _, of := range r.Tokens {
			tokens += of
		}
		list := []cost{
			{"turns", about(per * float64(r.Progress.Turns)), from},
			{"tokens", about(per * float64(tokens)), "prompts and answers together"},
			{"money", fmt.Sprintf("%.2f", per*r.Cost), "as far as the policies have prices"},
		}
		if r.Cost == 0 {
			list[2].Amount, list[2].From = "not known", "no policy of that iteration has a price"
		}
		end := time.Now()
		if r.EndedAt != nil {
			end = *r.EndedAt
		}
		took := fmt.Sprintf("%.1f hours", end.Sub(r.CreatedAt).Hours()*per)
		if minutes := end.Sub(r.CreatedAt).Minutes() * per; minutes < 90 {
			took = fmt.Sprintf("%.1f minutes", minutes)
		}
		return append(list, cost{"time", took, "at that iteration’s pace, pauses included"})
	}
	return []cost{{"turns, tokens, money, time", "not known", fmt.Sprintf("no trajectory of this run’s %s iterations has ended yet", kind)}}
}

// about writes a number to two digits.
func about(x float64) string {
	if x <= 0 {
		return "0"
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return chart.Grouped(int64(math.Round(x/unit) * unit))
}

// madeIteration is the page of the iteration that was made.
func madeIteration(answer []byte) string {
	var made struct{ ID relabel.ID }
	if json.Unmarshal(answer, &made) != nil {
		return "/"
	}
	return "/iterations/" + made.ID.String()
}
