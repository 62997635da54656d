package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs/docker"
	"relabel/store"
	"relabel/store/localpg"
)

// doctorCommand is `relabel doctor`.
type doctorCommand struct {
	cli.ClientFlags
	dockerFlags
	secretFlags
	Policy string `placeholder:"NAME" help:"Probe this policy's endpoint instead, with a dozen short requests, and say what it can do and what to change."`
	JSON   bool   `name:"json" help:"Print the probe's report as JSON."`
}

// check is one thing that relabel needs.
type check struct {
	name  string
	found string // what is there
	err   error  // says what to do
}

// Run checks the machine, or an endpoint.
func (c *doctorCommand) Run(ctx context.Context) error {
	switch {
	case c.Policy != "":
		return c.probe(ctx)
	case c.JSON:
		return relabel.Errorf(relabel.CodeInvalid, "--json goes with --policy")
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
		return cli.ErrSomeFailed
	}
	return nil
}

func (c *doctorCommand) checkDocker(ctx context.Context) check {
	host, err := c.openFleet(ctx, docker.Config{Instance: "doctor"}, zerolog.Nop()) // what is wrong is printed below
	if err != nil {
		return check{"docker", "", err}
	}
	for _, h := range host.Health() {
		if h.Problem != "" {
			err = errors.Join(err, relabel.Errorf(relabel.CodeUnavailable, "%s", h.Problem))
		}
	}
	return check{"docker", host.Name() + " answers, sandboxd is here", errors.Join(err, host.Close())}
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
	} else if c.Database == "" {
		err = localpg.Reaches(c.Data)
	}
	return check{"data", c.Data, err}
}
