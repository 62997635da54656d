package cli

import (
	"context"
	"fmt"
	"os"

	"relabel"
)

// DoctorCommand is `relabel doctor`.
type DoctorCommand struct {
	ClientFlags
	DockerFlags
	SecretFlags
	Policy string `placeholder:"NAME" help:"Probe this policy's endpoint instead, with a dozen short requests, and report what it supports and what to change."`
	JSON   bool   `name:"json" help:"Print the report of the probe as JSON."`
}

// Run checks the machine, or an endpoint.
func (c *DoctorCommand) Run(ctx context.Context, p *Ports) error {
	switch {
	case c.Policy != "":
		return c.probe(ctx, p)
	case c.JSON:
		return relabel.Errorf(relabel.CodeInvalid, "--json requires --policy")
	}
	well := true
	for _, check := range []struct {
		name string
		run  func() (found string, err error)
	}{
		{"docker", func() (string, error) { return p.CheckDocker(ctx, c.DockerFlags) }},
		{"postgres", func() (string, error) { return p.CheckDatabase(ctx, c.DatabaseFlags) }},
		{"data", func() (string, error) { return c.Data, c.checkData(p) }},
		{"parsers", func() (string, error) { return p.CheckParsers(), nil }},
	} {
		found, err := check.run()
		if err != nil {
			well = false
			fmt.Printf("✗ %-10s %v\n", check.name, err)
			continue
		}
		fmt.Printf("✓ %-10s %s\n", check.name, found)
	}
	if !well {
		return ErrSomeFailed
	}
	return nil
}

// checkData fails if the data folder cannot be used.
func (c *DoctorCommand) checkData(p *Ports) error {
	err := os.MkdirAll(c.Data, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(c.Data, ".doctor-*"); err == nil {
			err = f.Close()
			_ = os.Remove(f.Name())
		}
	}
	if err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "%s cannot be written to; choose another folder with --data", c.Data).Because(err)
	}
	if c.Database != "" {
		return nil
	}
	return p.CheckReach(c.Data)
}
