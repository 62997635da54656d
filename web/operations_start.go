package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
)

func (v *viewer) startIteration(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	var rounds []round
	var names, benchmarks []string
	l := load{ctx: r.Context()}
	read(&l, &rounds, v.spentRounds, run.ID)
	read(&l, &names, v.policyNames, offeredNames)
	read(&l, &benchmarks, v.benchmarkNames, offeredNames)
	body, f := api.NewIteration{}, startForm(run, chosen)
	if err := cmp.Or(l.err, f.read(&body)); err != nil {
		return operation{}, err
	}
	body.Student = cmp.Or(body.Student, nextStudent(rounds, names))
	// An evaluation never draws from the tasks that its student was trained on.
	body.HeldOut = body.HeldOut || body.Kind == relabel.Evaluate && len(body.Instances) == 0 && body.Again == nil && body.Benchmark == ""
	o := post(runPath(run.ID), "/iterations", "Start the next iteration of "+run.Name, "Start")
	o.Call.Body, o.Fields, o.Done = body, startFields(run, f, body, names, benchmarks, rounds), madeAt("/iterations/")
	n, reserved, err := v.countTrajectories(r.Context(), run, body)
	o.Notes = []string{fmt.Sprintf("Queues %s trajectories. Workers call models as soon as they have slots.", chart.Grouped(int64(n)))}
	if reserved > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("Does not draw from %s tasks that benchmarks or exclusion lists reserve.", chart.Grouped(int64(reserved))))
	}
	if body.Kind == relabel.Sample && (body.HeldOut || body.Benchmark != "") {
		o.Notes = append(o.Notes, "Only measures the student: no export has these trajectories.")
	}
	if run.Paused != nil {
		o.Notes = append(o.Notes, "The run is paused: no rollout starts until it is resumed.")
	}
	o.Costs = costsOf(n, cmp.Or(body.Kind, run.Recipe.DefaultKind()), rounds)
	return o, err
}

// startForm is the form of a new iteration, without the fields that the chosen values exclude.
func startForm(run relabel.Run, chosen url.Values) form {
	f, kind := form{chosen: chosen}, cmp.Or(relabel.IterationKind(chosen.Get("kind")), run.Recipe.DefaultKind())
	if !kind.Labelled() || run.Beta == nil {
		f.hidden = append(f.hidden, "beta")
	}
	if !kind.Labelled() || run.Rho == nil {
		f.hidden = append(f.hidden, "rho")
	}
	if !kind.Labelled() || run.Recipe == relabel.SFT {
		f.hidden = append(f.hidden, "label_rule")
	}
	if kind == relabel.Evaluate {
		f.hidden = append(f.hidden, "allow_benchmarks", "verify")
	}
	if kind.Labelled() {
		f.hidden = append(f.hidden, "held_out", "benchmark")
	}
	switch {
	case strings.TrimSpace(chosen.Get("instances")) != "":
		f.hidden = append(f.hidden, "benchmark", "again", "tasks", "held_out")
	case chosen.Get("again") != "":
		f.hidden = append(f.hidden, "benchmark", "instances", "tasks", "held_out")
	case !kind.Labelled() && strings.TrimSpace(chosen.Get("benchmark")) != "":
		f.hidden = append(f.hidden, "again", "instances", "tasks", "held_out", "allow_benchmarks")
	case kind == relabel.Sample && chosen.Get("held_out") == "true":
		f.hidden = append(f.hidden, "benchmark", "again", "instances", "allow_benchmarks")
	}
	return f
}

func startFields(run relabel.Run, f form, body api.NewIteration, policies, benchmarks []string, rounds []round) []operationField {
	var again []string
	for _, r := range slices.Backward(rounds) {
		if r.Kind == cmp.Or(body.Kind, run.Recipe.DefaultKind()) {
			again = append(again, r.ID.String())
		}
	}
	return f.fields(api.NewIteration{}, map[string]func(*operationField){
		"kind":      func(f *operationField) { f.Choices = kindChoices(run.Recipe) },
		"student":   with(policies, body.Student),
		"again":     with(again, ""),
		"benchmark": with(benchmarks, ""),
		"held_out":  func(f *operationField) { f.Values = []string{strconv.FormatBool(body.HeldOut)} },
		"beta":      func(f *operationField) { f.Help += " Empty: the schedule’s, " + betaWords(*run.Beta) + "." },
	})
}

// kindChoices are the kinds of iterations of a recipe, the default one first.
func kindChoices(recipe relabel.Recipe) []choice {
	if recipe.OnPolicy() {
		return choicesOf(string(relabel.Sample), string(relabel.Evaluate))
	}
	return choicesOf(string(relabel.Collect), string(relabel.Evaluate), string(relabel.Sample))
}

// countTrajectories is the number of trajectories that an iteration will have, and that of the tasks that
// its draw excludes since benchmarks reserve them.
func (v *viewer) countTrajectories(ctx context.Context, run relabel.Run, ask api.NewIteration) (n, reserved int, err error) {
	if ask.Again != nil {
		draw, err := v.Store.FindDraw(ctx, *ask.Again)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			return 0, 0, relabel.Errorf(relabel.CodeInvalid, "there is no such iteration").On("again")
		}
		return len(draw.Instances) * max(1, cmp.Or(ask.Generations, draw.Generations)), 0, err
	}
	if ask.Benchmark != "" {
		b, err := named(ctx, ask.Benchmark, v.Store.FindBenchmark, v.Store.FindBenchmarkByName)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			return 0, 0, relabel.Errorf(relabel.CodeInvalid, "no benchmark has this id or name").On("benchmark")
		}
		return b.Tasks * max(1, ask.Generations), 0, err
	}
	tasks, err := v.Store.CountTasks(ctx, run, slices.Concat(run.AllowBenchmarks, ask.AllowBenchmarks))
	switch {
	case len(ask.Instances) > 0:
		n = len(ask.Instances)
	case ask.HeldOut:
		n = tasks.HeldOut
	default:
		n, reserved = tasks.Open, tasks.Reserved
	}
	full := relabel.NewIteration{Kind: cmp.Or(ask.Kind, run.Recipe.DefaultKind()), Tasks: ask.Tasks, Instances: ask.Instances, HeldOut: ask.HeldOut, Generations: ask.Generations}.WithDefaults(run)
	if full.Tasks > 0 {
		n = min(n, full.Tasks)
	}
	return n * max(1, full.Generations), reserved, err
}

// nextStudent is the newest version of the last iteration's student, such as a checkpoint trained
// since. names are those of policies, newest first.
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

// costsOf estimates what n trajectories will use from the newest iteration of the same kind in
// which some ended without being cancelled.
func costsOf(n int, kind relabel.IterationKind, rounds []round) []cost {
	for _, r := range slices.Backward(rounds) {
		ended := r.Ended - r.Progress.Trajectories[relabel.Cancelled]
		if r.Kind != kind || ended == 0 {
			continue
		}
		from := fmt.Sprintf("from %s %d: %s trajectories", r.Kind, r.Number, chart.Grouped(int64(ended)))
		per := float64(n) / float64(ended)
		var tokens int64
		for _, of := range r.Tokens {
			tokens += of
		}
		list := []cost{
			{"turns", about(per * float64(r.Progress.Turns)), from},
			{"tokens", about(per * float64(tokens)), "prompt and completion"},
			{"money", fmt.Sprintf("%.2f", per*r.Cost), "of policies with prices"},
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
		return append(list, cost{"time", took, "at that iteration’s pace, including pauses"})
	}
	return []cost{{"turns, tokens, money, time", "not known", fmt.Sprintf("no trajectory of this run’s %s iterations has ended yet", kind)}}
}

// about formats a number rounded to two digits.
func about(x float64) string {
	if x <= 0 {
		return "0"
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return chart.Grouped(int64(math.Round(x/unit) * unit))
}
