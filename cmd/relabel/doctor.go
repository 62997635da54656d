package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"relabel"
	"relabel/envs/docker"
	"relabel/policy"
	"relabel/store"
	"relabel/store/localpg"
)

// doctorCommand is `relabel doctor`.
type doctorCommand struct {
	clientFlags
	dockerFlags
	secretFlags
	Policy string `placeholder:"NAME" help:"Probe this policy's endpoint instead, and say what it can do."`
}

// check is one thing that relabel needs.
type check struct {
	name  string
	found string // what is there
	err   error  // says what to do
}

// Run checks the machine, or an endpoint.
func (c *doctorCommand) Run(ctx context.Context) error {
	if c.Policy != "" {
		return c.probe(ctx)
	}
	well := true
	for _, ch := range []check{c.checkDocker(ctx), c.checkDatabase(ctx), c.checkData()} {
		if ch.err != nil {
			well = false
			fmt.Printf("✗ %-10s %v\n", ch.name, ch.err)
			continue
		}
		fmt.Printf("✓ %-10s %s\n", ch.name, ch.found)
	}
	if !well {
		return errSomeFailed
	}
	return nil
}

func (c *doctorCommand) checkDocker(ctx context.Context) check {
	host, err := docker.NewHost(docker.Config{Address: c.Docker, Instance: "doctor", Sandboxd: c.Sandboxd})
	if err != nil {
		return check{"docker", "", err}
	}
	return check{"docker", host.Name() + " answers, sandboxd is here", errors.Join(host.Ping(ctx), host.Close())}
}

func (c *doctorCommand) checkDatabase(ctx context.Context) check {
	if c.Database == "" {
		found, err := localpg.Find()
		return check{"postgres", found + ", started in the data folder when needed", err}
	}
	s, err := store.Open(ctx, c.Database)
	if err != nil {
		return check{"postgres", "", err}
	}
	defer s.Close()
	return check{"postgres", "DATABASE_URL answers", s.Ping(ctx)}
}

func (c *doctorCommand) checkData() check {
	err := os.MkdirAll(c.Data, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(c.Data, ".doctor-*"); err == nil {
			err = f.Close()
			_ = os.Remove(f.Name())
		}
	}
	if err != nil {
		err = relabel.Errorf(relabel.CodeUnavailable, "%s cannot be written to; choose another folder with --data", c.Data).Because(err)
	}
	return check{"data", c.Data, err}
}

// probe asks an endpoint a few things and prints what it can do.
func (c *doctorCommand) probe(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		p, err := findPolicy(ctx, cl, c.Policy)
		if err != nil {
			return err
		}
		secrets := policy.Secrets{Dir: c.Secrets}
		if p.Secret != "" { // without it nothing is asked, and nothing is known of the endpoint
			if _, err := secrets.Find(p.Secret); err != nil {
				return err
			}
		}
		report, err := policy.Probe(ctx, p, policy.Options{Secrets: secrets})
		fmt.Print(report) // what was found out before an error is worth reading too
		return err
	})
}
