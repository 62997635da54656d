package main

import (
	"context"
	"errors"
	"fmt"

	"relabel"
	"relabel/policy"
	"relabel/policy/scripted"
)

// endpoint is a real model that plays a part in the demo.
type endpoint struct {
	role                relabel.Role
	base, model, secret string
}

func (c *demoCommand) endpoints() []endpoint {
	return []endpoint{{relabel.Teacher, c.Teacher, c.TeacherModel, c.TeacherKey}, {relabel.Student, c.Student, c.StudentModel, c.StudentKey}}
}

// Validate checks the flags before anything is begun.
func (c *demoCommand) Validate() error {
	if c.Rollouts < 1 {
		return relabel.Errorf(relabel.CodeInvalid, "is %d; a demo rolls out at least one", c.Rollouts).On("--rollouts")
	}
	if err := errors.Join(c.workFlags.check(), c.siteFlags.check()); err != nil {
		return err
	}
	for _, e := range c.endpoints() {
		if err := e.check(); err != nil {
			return err
		}
	}
	return nil
}

// check says what is wrong with the flags of an endpoint.
func (e endpoint) check() error {
	flag := "--" + string(e.role)
	switch {
	case e.base == "" && e.model != "":
		return relabel.Errorf(relabel.CodeInvalid, "needs %s URL beside it: without, the %s is scripted", flag, e.role).On(flag + "-model")
	case e.base == "" && e.secret != "":
		return relabel.Errorf(relabel.CodeInvalid, "needs %s URL beside it: without, the %s is scripted", flag, e.role).On(flag + "-secret")
	case e.base == "":
		return nil
	case e.model == "":
		return relabel.Errorf(relabel.CodeInvalid, "is missing: name the model that %s is to be asked for", e.base).On(flag + "-model")
	}
	var wrong *relabel.Error
	if errors.As(demoPolicy(e).ValidateNew(), &wrong) {
		flags := map[string]string{"base_url": flag, "secret": flag + "-secret"}
		return wrong.On(flags[wrong.Field])
	}
	return nil
}

// findSecrets fails where a named secret is missing.
func (c *demoCommand) findSecrets() error {
	for _, e := range c.endpoints() {
		if e.secret == "" {
			continue
		}
		if _, err := (policy.Secrets{Dir: c.Secrets}).Find(e.secret); err != nil {
			return err
		}
	}
	return nil
}

// reach fails where a real model does not answer: rollouts would wait for it, for as long as
// its policy is patient.
func (c *demoCommand) reach(ctx context.Context) error {
	rule, err := c.addressRule()
	if err != nil {
		return err
	}
	for _, e := range c.endpoints() {
		if e.base == "" {
			continue
		}
		err = policy.Reach(ctx, demoPolicy(e), policy.Options{Secrets: policy.Secrets{Dir: c.Secrets}, Transport: rule.Transport})
		var known *relabel.Error
		if errors.As(err, &known) {
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

// scriptedPolicy is the policy of a scripted model. It is not asked for token ids: its own
// are of no tokenizer, so that each prompt of an export would be said to differ.
func (c *demoCommand) scriptedPolicy(model string) relabel.Policy {
	return relabel.Policy{Name: model, BaseURL: "http://" + c.Scripted + "/v1", Model: model,
		Server: relabel.ServerGeneric, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}
}

// serveScripted serves the scripted policies where a real one is not given.
func (c *demoCommand) serveScripted(ctx context.Context, tasks []relabel.Task) (stop func(), err error) {
	if c.Teacher != "" && c.Student != "" {
		return func() {}, nil
	}
	_, stop, err = scripted.Serve(ctx, c.Scripted, scripted.Config{Book: scripted.NewBook(tasks)})
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "the scripted policies cannot listen on %s; choose another address with --scripted-listen", c.Scripted).Because(err)
	}
	fmt.Println("Teacher and student are SCRIPTED stand-ins that know the gold patches; real ones: relabel demo --teacher URL --student URL")
	return stop, nil
}
