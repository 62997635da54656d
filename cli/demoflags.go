package cli

import (
	"context"
	"errors"
	"fmt"

	"relabel"
)

// endpoint is a real model in the demo.
type endpoint struct {
	role                relabel.Role
	base, model, secret string
}

func (c *DemoCommand) endpoints() []endpoint {
	return []endpoint{{relabel.Teacher, c.Teacher, c.TeacherModel, c.TeacherKey}, {relabel.Student, c.Student, c.StudentModel, c.StudentKey}}
}

// Check refuses values that the demo cannot use.
func (c *DemoCommand) Check() error {
	if err := errors.Join(c.CheckWork(), c.CheckSite()); err != nil {
		return err
	}
	for _, e := range c.endpoints() {
		if err := e.check(); err != nil {
			return err
		}
	}
	return nil
}

// check refuses incomplete flags of an endpoint.
func (e endpoint) check() error {
	flag := "--" + string(e.role)
	given := flag + "-secret"
	if e.model != "" {
		given = flag + "-model"
	}
	switch {
	case e.base == "" && e.model+e.secret == "":
		return nil
	case e.base == "":
		return relabel.Errorf(relabel.CodeInvalid, "needs %s URL: without it the %s is scripted", flag, e.role).On(given)
	case e.model == "":
		return relabel.Errorf(relabel.CodeInvalid, "is required: name the model at %s", e.base).On(flag + "-model")
	}
	var wrong *relabel.Error
	if errors.As(demoPolicy(e).ValidateNew(), &wrong) {
		flags := map[string]string{"base_url": flag, "secret": flag + "-secret"}
		return wrong.On(flags[wrong.Field])
	}
	return nil
}

// reach fails if a real model does not answer or its secret is missing.
func (c *DemoCommand) reach(ctx context.Context, p *Ports) error {
	for _, e := range c.endpoints() {
		if e.base == "" {
			continue
		}
		err := p.Reach(ctx, demoPolicy(e), c.WorkFlags)
		var known *relabel.Error
		if errors.As(err, &known) && known.Code != relabel.CodeSecretMissing {
			return known.On("--" + string(e.role))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// demoPolicy is the policy of a real endpoint.
func demoPolicy(e endpoint) relabel.Policy {
	return relabel.Policy{Name: "demo-" + string(e.role), BaseURL: e.base, Model: e.model, Secret: e.secret,
		Server: relabel.ServerGeneric, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}
}

// serveScripted serves the scripted policies unless both endpoints are real.
func (c *DemoCommand) serveScripted(ctx context.Context, p *Ports, tasks []relabel.Task) (stop func(), err error) {
	if c.Teacher != "" && c.Student != "" {
		return func() {}, nil
	}
	stop, err = p.ServeScripted(ctx, c.Scripted, tasks)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "the scripted policies cannot listen on %s; choose another address with --scripted-listen", c.Scripted).Because(err)
	}
	fmt.Println("Teacher and student are SCRIPTED stand-ins that know the gold patches; real ones: relabel demo --teacher URL --student URL")
	return stop, nil
}
