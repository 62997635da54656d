package cli

import (
	"errors"

	"relabel"
)

// StatementFlags name a model that writes problem statements.
type StatementFlags struct {
	SecretFlags
	StatementURL         string  `placeholder:"URL" help:"Chat-completions endpoint of a model that writes the problem statements from the fixes, in the place of other statements. A statement that gives the fix away is refused. Default: no model."`
	StatementModel       string  `placeholder:"NAME" help:"Its name at the endpoint."`
	StatementSecret      string  `placeholder:"NAME" help:"Secret with its key."`
	StatementTemperature float64 `default:"0.7" help:"Its sampling temperature."`
	StatementHideFiles   bool    `help:"Also refuse statements that name a file that the fix changes."`
}

// Policy returns the endpoint as a policy, nil without one.
func (f StatementFlags) Policy() (*relabel.Policy, error) {
	switch {
	case f.StatementURL == "" && (f.StatementModel != "" || f.StatementSecret != "" || f.StatementHideFiles):
		return nil, relabel.Errorf(relabel.CodeInvalid, "is required for a model that writes statements").On("--statement-url")
	case f.StatementURL == "":
		return nil, nil
	case f.StatementModel == "":
		return nil, relabel.Errorf(relabel.CodeInvalid, "is required: name the model at %s", f.StatementURL).On("--statement-model")
	}
	p := relabel.Policy{Name: "statements", BaseURL: f.StatementURL, Model: f.StatementModel, Secret: f.StatementSecret, Server: relabel.ServerGeneric,
		Sampling: relabel.Sampling{Temperature: f.StatementTemperature, TopP: 1}, Limits: relabel.DefaultPolicyLimits}
	var wrong *relabel.Error
	if err := p.ValidateNew(); errors.As(err, &wrong) {
		flags := map[string]string{"base_url": "--statement-url", "secret": "--statement-secret", "model": "--statement-model",
			"sampling.temperature": "--statement-temperature"}
		return nil, wrong.On(flags[wrong.Field])
	}
	return &p, nil
}
