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
	Repositories string `env:"RELABEL_REPOSITORIES" placeholder:"DIR" help:"Check this folder of git mirrors too; Docker is then optional, as tasks to localise need none."`
	Policy       string `placeholder:"NAME" help:"Probe this policy's endpoint instead, with a dozen short requests, and report what it supports and what to change."`
	JSON         bool   `name:"json" help:"Print the report of the probe as JSON."`
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
	for _, check := range c.checks(ctx, p) {
		found, err := check.run()
		switch {
		case err == nil:
			fmt.Printf("✓ %-10s %s\n", check.name, found)
		case check.without != "":
			fmt.Printf("! %-10s %v; %s\n", check.name, err, check.without)
		default:
			well = false
			fmt.Printf("✗ %-10s %v\n", check.name, err)
		}
	}
	if !well {
		return ErrSomeFailed
	}
	return nil
}

// check is one check of the machine.
type check struct {
	name    string
	without string // what does not work without it; "" if nothing does
	run     func() (found string, err error)
}

// checks lists the checks of the machine.
func (c *DoctorCommand) checks(ctx context.Context, p *Ports) []check {
	docker := check{"docker", "", func() (string, error) { return p.CheckDocker(ctx, c.DockerFlags) }}
	all := []check{
		{"postgres", "", func() (string, error) { return p.CheckDatabase(ctx, c.DatabaseFlags) }},
		{"data", "", func() (string, error) { return c.Data, c.checkData(p) }},
		{"parsers", "", func() (string, error) { return p.CheckParsers(), nil }},
	}
	if c.Repositories != "" {
		docker.without = "tasks to repair wait until an engine answers"
		all = append(all, check{"mirrors", "", func() (string, error) { return p.CheckMirrors(c.Repositories) }})
	}
	return append([]check{docker}, all...)
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
