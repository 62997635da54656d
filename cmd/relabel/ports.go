package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/envs/verify"
	"relabel/outbound"
	"relabel/policy"
	"relabel/policy/scripted"
	shardverify "relabel/shard/verify"
	"relabel/store"
	"relabel/store/localpg"
)

// demoCommand is `relabel demo`.
type demoCommand struct{ cli.DemoCommand }

// Validate refuses values that cannot be used.
func (c *demoCommand) Validate() error {
	return errors.Join(c.Check(), checkResources(c.ResourceFlags))
}

// ports returns what commands need besides REST.
func ports() *cli.Ports {
	return &cli.Ports{
		OpenTokens:     openTokens,
		ReadManifest:   shardverify.ReadManifest,
		OpenView:       openView,
		VerifyExport:   verifyExport,
		OpenValidation: openValidation,
		CheckDocker:    checkDocker,
		CheckDatabase:  checkDatabase,
		CheckReach:     localpg.Reaches,
		Probe:          probe,
		Serve: func(ctx context.Context, f cli.ServeFlags, use func(context.Context, *cli.Session, cli.ValidateTask) error) error {
			return withSite(ctx, f, quietLog(), func(ctx context.Context, c *cli.Session, host *fleet.Fleet) error {
				return use(ctx, c, validateOn(host))
			})
		},
		ServeScripted: func(ctx context.Context, address string, tasks []relabel.Task) (func(), error) {
			_, stop, err := scripted.Serve(ctx, address, scripted.Config{Book: scripted.NewBook(tasks)})
			return stop, err
		},
		Reach: reach,
	}
}

// openTokens opens the database, that of a running server if there is one.
func openTokens(ctx context.Context, f cli.DatabaseFlags) (cli.TokenStore, error) {
	open := openDatabase
	if f.Database == "" && f.Running(ctx) != nil {
		open = joinDatabase
	}
	db, err := open(ctx, f)
	return tokenStore{db}, err
}

// tokenStore keeps bearer tokens.
type tokenStore struct{ *database }

// ListTokens lists all tokens.
func (s tokenStore) ListTokens(ctx context.Context) (all []cli.Token, err error) {
	tokens, err := s.database.ListTokens(ctx)
	for _, t := range tokens {
		all = append(all, cli.Token(t))
	}
	return all, err
}

// openValidation connects to Docker to validate tasks.
func openValidation(ctx context.Context, f cli.DockerFlags) (cli.ValidateTask, func() error, error) {
	images, err := imagesFrom(f, policy.Secrets{})
	if err != nil {
		return nil, nil, err
	}
	host, err := openFleet(ctx, f, docker.Config{Instance: "validate", Images: images}, newLog())
	if err != nil {
		return nil, nil, err
	}
	return validateOn(host), host.Close, nil
}

// validateOn returns what validates tasks in sandboxes of a host.
func validateOn(host envs.Host) cli.ValidateTask {
	v := verify.New(host)
	return func(ctx context.Context, task relabel.Task) (cli.Validation, error) {
		result, err := v.Validate(ctx, task, relabel.PaperLimits)
		return cli.Validation(result), err
	}
}

// checkDocker checks all engines.
func checkDocker(ctx context.Context, f cli.DockerFlags) (found string, err error) {
	host, err := openFleet(ctx, f, docker.Config{Instance: "doctor"}, zerolog.Nop()) // doctor prints the problems
	if err != nil {
		return "", err
	}
	for _, h := range host.Health() {
		if h.Problem != "" {
			err = errors.Join(err, relabel.Errorf(relabel.CodeUnavailable, "%s", h.Problem))
		}
	}
	return host.Name() + " answers, sandboxd is here", errors.Join(err, host.Close())
}

// checkDatabase checks DATABASE_URL, or the installation of Postgres without one.
func checkDatabase(ctx context.Context, f cli.DatabaseFlags) (found string, err error) {
	if f.Database == "" {
		found, err := localpg.Find()
		return found + ", started in the data folder when needed", err
	}
	s, err := store.Open(ctx, f.Database)
	if err != nil {
		return "", err
	}
	defer s.Close()
	return "DATABASE_URL answers", s.Ping(ctx)
}

// connection returns how to connect to a policy's endpoint outside of a worker. A missing secret is
// an error.
func connection(p relabel.Policy, secrets cli.SecretFlags) (policy.Options, error) {
	o := policy.Options{Secrets: policy.Secrets{Dir: secrets.Secrets}}
	if p.Secret == "" {
		return o, nil
	}
	_, err := o.Secrets.Find(p.Secret)
	return o, err
}

// probe tests what a policy's endpoint supports.
func probe(ctx context.Context, p relabel.Policy, secrets cli.SecretFlags) (r cli.ProbeReport, err error) {
	options, err := connection(p, secrets)
	if err != nil {
		return r, err
	}
	rule, err := environmentRule()
	if err != nil {
		return r, err
	}
	options.Transport = rule.Transport
	report, err := policy.Probe(ctx, p, options)
	return cli.ProbeReport{Text: report.String(), Suggested: report.Suggested, Fields: func(command string) any {
		return struct {
			policy.Report
			Command string `json:"command,omitempty"` // one shell line
		}{report, command}
	}}, err
}

// reach fails if a policy's endpoint does not answer.
func reach(ctx context.Context, p relabel.Policy, f cli.WorkFlags) error {
	options, err := connection(p, f.SecretFlags)
	if err != nil {
		return err
	}
	rule, err := outbound.NewRule(f.AllowAddress)
	if err != nil {
		return err
	}
	options.Transport = rule.Transport
	return policy.Reach(ctx, p, options)
}
