// Package trainers knows what the loaders of trainers read, how they are started, and which of them cannot
// train on labels alone. One file per trainer.
package trainers

import (
	"slices"
	"strings"

	"relabel"
)

// Trainer is a program that fine-tunes models.
type Trainer struct {
	Name   string
	Routes []Route // best first; empty: refused
	// Refused says why no route is safe; "" if there is one.
	Refused string
	// Run names the version of the loader that was run on such rows, Read the state of its code that was read instead.
	Run, Read string
}

// Route is one way from rows to the trainer's loss.
type Route struct {
	View    relabel.View
	Bare    bool // linear with exactly three columns
	Dialect relabel.Dialect
	Weights bool     // the trainer multiplies the loss of each token by its weight, above 0
	Signed  bool     // it does so for weights of either sign
	Files   []string // of the folder files, or programs of examples/train
	Command string   // a template of Facts
	// EndsWithEOS says that the loader appends the tokenizer's eos_token to rows that end with another token,
	// AddsBOS that it puts a bos_token in front of rows if the tokenizer does so.
	EndsWithEOS, AddsBOS bool
	// PrintsQwen3 says that the trainer prints messages itself, as Qwen3's template does.
	PrintsQwen3 bool
}

// all are the trainers, in the order of the documentation.
var all = []Trainer{trl, primeRL, verl, slime, nemoRL, automodel, megatronBridge, axolotl, msSwift, llamaFactory, skyRL, openRLHF, tinker, openAI, torchTitan}

// Names lists the trainers that an export can be made for, or that are refused with a reason.
func Names() []string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

// readers lists the trainers that read a view.
func readers(v relabel.View) (names []string) {
	for _, t := range all {
		if slices.ContainsFunc(t.Routes, func(r Route) bool { return r.View == v }) {
			names = append(names, t.Name)
		}
	}
	return names
}

// usable lists the trainers that an export can be made for.
func usable() (names []string) {
	for _, t := range all {
		if t.Refused == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// All lists the trainers.
func All() []Trainer { return slices.Clone(all) }

// IsFile reports whether a trainer's export may have a file of this name beside its rows.
func IsFile(name string) bool {
	return slices.ContainsFunc(all, func(t Trainer) bool {
		return slices.ContainsFunc(t.Routes, func(r Route) bool { return slices.Contains(r.Files, name) })
	})
}

// Find returns a trainer by its name. CodeInvalid on for if there is none.
func Find(name string) (Trainer, error) {
	for _, t := range all {
		if t.Name == name {
			return t, nil
		}
	}
	return Trainer{}, relabel.Errorf(relabel.CodeInvalid, "there is no trainer %.40q: choose %s", name, strings.Join(usable(), ", ")).On("for")
}

// Resolve sets the views, Bare and Dialect of a form from its trainer, if it has one. Views that the form names
// already select another route of the trainer; messages and linear may be added to any. CodeInvalid if the
// trainer is unknown or refused, or if it does not read one of the views.
func Resolve(f relabel.ExportForm) (relabel.ExportForm, error) {
	f.Dialect = ""
	if f.For == "" {
		for _, v := range f.Views {
			if v.ForTrainer() {
				return f, relabel.Errorf(relabel.CodeInvalid, "%s is written for a trainer, which must be named too: %s", v, strings.Join(readers(v), ", ")).On("for")
			}
		}
		return f, nil
	}
	t, err := Find(f.For)
	if err != nil {
		return f, err
	}
	route, err := t.route(f)
	if err != nil {
		return f, err
	}
	if !slices.Contains(f.Views, route.View) {
		f.Views = append(slices.Clone(f.Views), route.View)
	}
	f.Bare, f.Dialect = route.Bare, route.Dialect
	return f, nil
}

// RouteOf returns the route of a resolved form; false if the form has no trainer.
func RouteOf(f relabel.ExportForm) (Route, bool) {
	t, err := Find(f.For)
	if f.For == "" || err != nil {
		return Route{}, false
	}
	route, err := t.route(f)
	return route, err == nil
}

// route chooses the route of a form: the best one, or that of the views that the form names.
func (t Trainer) route(f relabel.ExportForm) (Route, error) {
	if t.Refused != "" {
		return Route{}, relabel.Errorf(relabel.CodeInvalid, "%s is refused: %s", t.Name, t.Refused).On("for")
	}
	chosen := -1
	for _, v := range f.Views {
		i := slices.IndexFunc(t.Routes, func(r Route) bool { return r.View == v })
		beside := v == relabel.ViewMessages || v == relabel.ViewLinear
		switch {
		case i < 0 && !beside:
			return Route{}, relabel.Errorf(relabel.CodeInvalid, "%s does not read the view %s: it reads %s; messages and linear may be added", t.Name, v, t.views()).On("views")
		case i >= 0 && chosen >= 0 && !beside && t.Routes[chosen].View != relabel.ViewLinear:
			return Route{}, relabel.Errorf(relabel.CodeInvalid, "%s reads one of %s: an export has one of them", t.Name, t.views()).On("views")
		case i >= 0 && (chosen < 0 || !beside):
			chosen = i
		}
	}
	route := t.Routes[max(chosen, 0)]
	if f.Bare && !route.Bare {
		return route, relabel.Errorf(relabel.CodeInvalid, "%s does not read bare rows: omit it", t.Name).On("bare")
	}
	return route, nil
}

// views names the views that the trainer reads.
func (t Trainer) views() string {
	var names []string
	for _, r := range t.Routes {
		names = append(names, string(r.View))
	}
	return strings.Join(names, ", ")
}

// CheckWeights returns CodeInvalid on for if the form's trainer cannot apply the weights of the recipe, of the
// form's normalisation, or others, which the last argument names as a clause; "" if there are none.
func CheckWeights(f relabel.ExportForm, recipe relabel.Recipe, others string) error {
	route, there := RouteOf(f)
	why, instead := "", ""
	switch {
	case !there || recipe.OnPolicy() && route.Signed:
	case recipe.OnPolicy():
		why = "recipe " + string(recipe) + " has weights of either sign"
	case route.Weights:
	case f.Normalisation == relabel.PerTransition:
		why, instead = "normalisation transition gives weights other than 1", "; or choose normalisation token"
	default:
		why = others
	}
	if why == "" {
		return nil
	}
	return relabel.Errorf(relabel.CodeInvalid, "%s does not apply such weights to rows of %s, and %s: choose %s%s", f.For, route.View, why, strings.Join(weighing(recipe.OnPolicy()), ", "), instead).On("for")
}

// weighing lists the trainers with a route that applies weights, with signed those of either sign.
func weighing(signed bool) (names []string) {
	for _, t := range all {
		if slices.ContainsFunc(t.Routes, func(r Route) bool { return r.Weights && (r.Signed || !signed) }) {
			names = append(names, t.Name)
		}
	}
	return names
}
