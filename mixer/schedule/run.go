package schedule

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"

	"relabel"
	"relabel/api"
)

// MaxTrajectories is the maximum number of trajectories of one iteration, which are drawn and
// stored at once.
const MaxTrajectories = 100_000

// Defaults gives a run without a schedule that of the paper for its recipe, and draws anew unless the
// run says otherwise.
func Defaults(run relabel.Run) relabel.Run {
	run.Draw = cmp.Or(run.Draw, relabel.DrawAnew)
	if run.Recipe == relabel.DAgger && run.Beta == nil {
		paper := relabel.PaperBeta
		run.Beta = &paper
	}
	if run.Recipe == relabel.AggreVaTe && run.Rho == nil {
		paper := relabel.PaperRho
		run.Rho = &paper
	}
	return run
}

// ValidateRun checks a run whose defaults are filled. Errors are CodeInvalid and name
// the field.
func ValidateRun(run relabel.Run) error {
	if err := validateRecipe(run); err != nil {
		return err
	}
	if _, err := run.Verify.Count(0); err != nil {
		return err
	}
	if err := checkScored(run.TaskKind, run.Verify); err != nil {
		return err
	}
	if err := checkRunRule(run); err != nil {
		return err
	}
	if err := api.Validate(run.Limits, api.NewRunLimits{}, "limits"); err != nil {
		return err
	}
	if err := run.TaskKind.CheckLimits(run.Limits); err != nil {
		return err
	}
	seen := map[string]bool{}
	for k, id := range run.Instances {
		if id == "" || seen[id] {
			return relabel.Errorf(relabel.CodeInvalid, "%q is empty or a duplicate", id).On("instances[" + strconv.Itoa(k) + "]")
		}
		seen[id] = true
	}
	return nil
}

// checkScored refuses to leave trajectories without a score that cannot be scored later: the state of a terminal
// is gone with its container, and an answer to localise is scored without one.
func checkScored(kind relabel.TaskKind, verify relabel.VerifyPolicy) error {
	if (kind == relabel.Localise || kind == relabel.Terminal) && cmp.Or(verify, relabel.VerifyAll) != relabel.VerifyAll {
		return relabel.Errorf(relabel.CodeInvalid, "is %s; %s are always scored: omit it", verify, kind.Words()).On("verify")
	}
	return nil
}

// validateRecipe checks the recipe and that each schedule goes with it.
func validateRecipe(run relabel.Run) error {
	switch run.Recipe {
	case relabel.SFT, relabel.DAgger, relabel.AggreVaTe, relabel.OPD, relabel.GRPO:
	default:
		return relabel.Errorf(relabel.CodeInvalid, "is %q; must be sft, dagger, aggrevate, opd or grpo", run.Recipe).On("recipe")
	}
	if run.Recipe.OnPolicy() && run.Labels.Deferred() {
		return relabel.Errorf(relabel.CodeInvalid, "is %s; an %s run has no labels: omit it", run.Labels, run.Recipe).On("labels")
	}
	if run.Beta != nil && run.Recipe != relabel.DAgger {
		return relabel.Errorf(relabel.CodeInvalid, "requires the recipe dagger, not %s", run.Recipe).On("beta")
	}
	if run.Rho != nil && run.Recipe != relabel.AggreVaTe {
		return relabel.Errorf(relabel.CodeInvalid, "requires the recipe aggrevate, not %s", run.Recipe).On("rho")
	}
	switch {
	case run.Recipe == relabel.DAgger && run.Beta == nil:
		return relabel.Errorf(relabel.CodeInvalid, "is missing; dagger needs it").On("beta")
	case run.Recipe == relabel.AggreVaTe && run.Rho == nil:
		return relabel.Errorf(relabel.CodeInvalid, "is missing; aggrevate needs it").On("rho")
	case run.Beta != nil:
		return ValidateBeta(*run.Beta)
	case run.Rho != nil:
		return ValidateRho(*run.Rho)
	}
	return nil
}

// parameters are the fields of a schedule that its kind reads.
var parameters = map[string][]string{
	Linear: {"start", "step", "floor"}, Exponential: {"start", "decay", "floor"},
	Shifting: {"max"}, Uniform: {"max"}, List: {"values"}, Ranges: {"ranges"}, Weights: {"weights"},
	Constant: {"start", "max"}, // of β and of ρ
}

// CheckParameters refuses a schedule of a request that has a parameter of another kind, which would be
// ignored, or lacks its main parameter. Errors are CodeInvalid and name the field.
func CheckParameters(run relabel.Run) error {
	if s := run.Beta; s != nil {
		return checkParameters(*s, s.Kind, "beta", s.Start == 0 && (s.Kind == Linear || s.Kind == Exponential))
	}
	if s := run.Rho; s != nil {
		return checkParameters(*s, s.Kind, "rho", s.Max == 0 && (s.Kind == Shifting || s.Kind == Uniform))
	}
	return nil
}

func checkParameters(s any, kind, path string, lacking bool) error {
	if lacking {
		main := parameters[kind][0]
		return relabel.Errorf(relabel.CodeInvalid, "is 0 or missing; the kind %s needs it above 0. Omit %s for the paper's schedule", kind, path).On(path + "." + main)
	}
	for _, f := range api.Fields(s) {
		given := !reflect.ValueOf(s).FieldByIndex(f.Index).IsZero()
		if given && f.Name != "kind" && !slices.Contains(parameters[kind], f.Name) {
			return relabel.Errorf(relabel.CodeInvalid, "does not apply to the kind %s; omit it", kind).On(path + "." + f.Name)
		}
	}
	return nil
}
