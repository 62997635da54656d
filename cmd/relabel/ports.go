package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/envs/reward"
	"relabel/envs/verify"
	"relabel/outbound"
	"relabel/policy"
	"relabel/policy/scripted"
	"relabel/shard/rows"
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
		OpenTokens:   openTokens,
		ReadManifest: shardverify.ReadManifest,
		OpenView: func(dir string, m relabel.Manifest, view relabel.View) cli.ExportView {
			return rows.FolderView(dir, m, view)
		},
		FetchExport:    fetchExport,
		PushExport:     pushExport,
		VerifyExport:   verifyExport,
		OpenValidation: openValidation,
		DetectRecipe:   detectRecipe,
		BuildTasks:     buildTasks,
		OpenBuild:      openBuild,
		OpenMirrors:    openMirrorsOf,
		CheckDocker:    checkDocker,
		CheckDatabase:  checkDatabase,
		CheckReach:     localpg.Reaches,
		CheckParsers:   checkParsers,
		CheckMirrors:   checkMirrors,
		Probe:          probe,
		Serve: func(ctx context.Context, f cli.ServeFlags, use func(context.Context, *cli.Session, cli.ValidateTask) error) error {
			return withSite(ctx, f, quietLog(), func(ctx context.Context, c *cli.Session, host *fleet.Fleet) error {
				return use(ctx, c, validateOn(host))
			})
		},
		ServeScripted: func(ctx context.Context, address string, tasks []relabel.Task) (func(), error) {
			_, stop, err := scripted.Serve(ctx, address, scripted.Config{Book: scripted.NewBook(tasks), Solvers: scripted.NewSolvers(tasks)})
			return stop, err
		},
		Reach: reach,
	}
}

// openTokens opens the database, that of a running server if there is one.
func openTokens(ctx context.Context, f cli.DatabaseFlags) (cli.TokenStore, error) {
	if f.Database == "" && f.Running(ctx) != nil {
		return localpg.Join(ctx, f.Data, "")
	}
	return openDatabase(ctx, f)
}

// verifyExport checks an export's folder.
func verifyExport(ctx context.Context, o cli.VerifyOptions) (_ cli.VerifyReport, err error) {
	options := shardverify.Options{First: o.First, Progress: (*shardverify.Progress)(o.Progress)}
	if o.Render {
		if options.Student, err = shardverify.FindStudent(o.Dir, o.Tokenizer, o.Template, o.Fetch); err != nil {
			return nil, err
		}
	}
	if o.For != "" {
		text, err := os.ReadFile(o.For)
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%s cannot be read", o.For).On("--for").Because(err)
		}
		options.Configuration = &shardverify.Configuration{Name: o.For, Text: text}
	}
	return shardverify.Check(ctx, o.Dir, options)
}

// openValidation connects to Docker to validate tasks.
func openValidation(ctx context.Context, f cli.DockerFlags) (cli.ValidateTask, func() error, error) {
	images, err := imagesFrom(f, policy.Secrets{})
	if err != nil {
		return nil, nil, err
	}
	log := newLog()
	host, err := openFleet(ctx, f, docker.Config{Instance: "validate", Images: images}, false, log)
	if err != nil {
		return nil, nil, err
	}
	// A validation that was killed leaves containers that it had not started; nothing else knows them.
	if _, err := host.Reap(ctx, func(l envs.Labels) bool { return time.Now().Before(l.Deadline) }); err != nil {
		log.Warn().Err(err).Msg("cannot remove what earlier validations left")
	}
	return validateOn(host), host.Close, nil
}

// openBuild connects to all engines to build images.
func openBuild(_ context.Context, f cli.DockerFlags) (cli.BuildImage, func() error, error) {
	var hosts []*docker.Host
	closeAll := func() (err error) {
		for _, h := range hosts {
			err = errors.Join(err, h.Close())
		}
		return err
	}
	addresses := f.Docker
	if len(addresses) == 0 {
		addresses = []string{""} // the local one
	}
	for _, address := range addresses {
		host, err := docker.NewHost(docker.Config{Instance: "build", Address: address, Sandboxd: f.Sandboxd})
		if err != nil {
			return nil, nil, errors.Join(cli.OnFlag(err, "--docker"), closeAll())
		}
		hosts = append(hosts, host)
	}
	return func(ctx context.Context, name string, again bool, files func(io.Writer) error, log io.Writer) (built int, err error) {
		for _, h := range hosts {
			there, err := h.HasImage(ctx, name)
			if err != nil {
				return built, err
			}
			if there && !again {
				continue
			}
			if err := h.BuildImage(ctx, docker.DockerfileSpec{Name: name, Context: files, Log: log}); err != nil {
				return built, dockerfileError(err)
			}
			built++
		}
		return built, nil
	}, closeAll, nil
}

// dockerfileError returns a Dockerfile that fails as CodeInvalid, with the end of its output.
func dockerfileError(err error) error {
	var failed *docker.BuildError
	if errors.As(err, &failed) {
		return relabel.Errorf(relabel.CodeInvalid, "its Dockerfile fails:\n%s", failed.Output).Because(err)
	}
	return err
}

// validateOn returns what validates tasks in sandboxes of a host.
func validateOn(host envs.Host) cli.ValidateTask {
	v := verify.New(host)
	return func(ctx context.Context, task relabel.Task, o cli.ValidateOptions) (relabel.Validation, error) {
		limits := relabel.PaperLimits
		limits.VerifySeconds = o.VerifySeconds
		if task.Kind == relabel.Terminal {
			return reward.Validate(ctx, host, task, limits, o.Times)
		}
		return v.Validate(ctx, task, limits, o.Times)
	}
}

// checkDocker checks all engines.
func checkDocker(ctx context.Context, f cli.DockerFlags) (found string, err error) {
	host, err := openFleet(ctx, f, docker.Config{Instance: "doctor"}, false, zerolog.Nop()) // doctor prints the problems
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
func connection(p relabel.Policy, secrets cli.SecretFlags, resources cli.ResourceFlags) (o policy.Options, err error) {
	o.Secrets = policy.Secrets{Dir: secrets.Secrets}
	if p.Secret != "" {
		if _, err := o.Secrets.Find(p.Secret); err != nil {
			return o, err
		}
	}
	rule, err := outbound.NewRule(resources.AllowAddress)
	o.Transport = rule.Transport
	return o, err
}

// probe tests what a policy's endpoint supports.
func probe(ctx context.Context, p relabel.Policy, secrets cli.SecretFlags) (r cli.ProbeReport, err error) {
	resources, err := cli.EnvironmentResources()
	if err != nil {
		return r, err
	}
	options, err := connection(p, secrets, resources)
	if err != nil {
		return r, err
	}
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
	options, err := connection(p, f.SecretFlags, f.ResourceFlags)
	if err != nil {
		return err
	}
	return policy.Reach(ctx, p, options)
}
