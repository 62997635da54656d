package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"relabel"
	"relabel/api"
)

// RunCommand is `relabel run`.
type RunCommand struct {
	Create       runCreate       `cmd:"" help:"Make a run: recipe, tasks, teacher, schedule, limits."`
	List         runList         `cmd:"" help:"List runs."`
	Iterate      runIterate      `cmd:"" help:"Start an iteration with this round's student, and watch it."`
	Watch        runWatch        `cmd:"" help:"Watch an iteration until it is over, also over a restart of the server."`
	Show         runShow         `cmd:"" help:"Show a run's iterations, with their ids, and what is spent."`
	Trajectories runTrajectories `cmd:"" help:"List the trajectories of a run."`
	Instances    runInstances    `cmd:"" help:"List the instances that an iteration rolls out, one per line."`
	Set          runSet          `cmd:"" help:"Change a run's priority, quota, budget or webhook."`
	Pause        runPause        `cmd:"" help:"Pause a run or an iteration; running turns finish first."`
	Resume       runResume       `cmd:"" help:"Resume a run or an iteration."`
	Cancel       runCancel       `cmd:"" help:"Cancel a run's iterations, or one iteration."`
	Label        runLabel        `cmd:"" help:"Start labelling now (runs with deferred or batch labels)."`
	Relabel      runRelabel      `cmd:"" help:"Ask another teacher at every state of what is done."`
	Verify       runVerify       `cmd:"" help:"Grade stored submissions again under the verifier's present protections."`
	Delete       runDelete       `cmd:"" help:"Say what a run consists of, and with --yes delete it for good."`
	Retry        runRetry        `cmd:"" help:"Try an iteration's failed trajectories once more."`
}

// runCreate is `relabel run create`.
type runCreate struct {
	ClientFlags
	Name     string   `arg:"" help:"Name of the run."`
	Recipe   string   `default:"dagger" enum:"dagger,aggrevate,sft" help:"${enum}."`
	Taskset  string   `required:"" help:"Name or id of a task set."`
	Teacher  string   `required:"" help:"Name (its newest version), name@version or id of the teacher's policy."`
	Instance []string `help:"Only these instances."`
	Beta     string   `placeholder:"JSON" help:"Schedule of βi. Default: the paper's {\"kind\":\"linear\",\"start\":1,\"step\":0.2,\"floor\":0.6}."`
	Rho      string   `placeholder:"JSON" help:"Schedule of ρi. Default: {\"kind\":\"shifting\",\"max\":40}."`
	Limits   string   `placeholder:"JSON" help:"Limits that differ from the paper's, e.g. {\"max_turns\":40}. Keys: max_turns (100), max_context_tokens (65536), wall_clock_seconds (3600), command_seconds (120), verify_seconds (1800), environment_retries (3)."`
	Prompts  string   `type:"existingfile" placeholder:"FILE" help:"JSON file {system, first, tools} with texts of your own."`
	Labels   string   `default:"beside" enum:"beside,deferred,batch" help:"When the teacher labels the student's turns: ${enum}. Beside the rollout, after the iteration's last rollout, or then and through its batch endpoint."`
	Seed     int64    `default:"0" help:"Seed of every draw."`
	noticeFlags
}

// Run makes the run.
func (c *runCreate) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		teacher, err := FindPolicy(ctx, cl, c.Teacher)
		if err != nil {
			return err
		}
		body := api.NewRun{Name: c.Name, Recipe: relabel.Recipe(c.Recipe), Taskset: set.ID.String(), Teacher: teacher.ID.String(), Instances: c.Instance, Labels: relabel.LabelMode(c.Labels), Seed: c.Seed}
		body.Budget, body.Webhook = c.over(relabel.Run{})
		withParts, err := c.addJSON(body)
		if err != nil {
			return err
		}
		var r relabel.Run
		if err := cl.Send(ctx, http.MethodPost, "/v1/runs", withParts, &r); err != nil {
			return err
		}
		fmt.Printf("%s  %s\n", r.ID, r.Name)
		return nil
	})
}

// runWithParts is a run with the parts that are given as JSON, unread: the server checks them.
type runWithParts struct {
	api.NewRun
	Beta    json.RawMessage `json:"beta,omitempty"`
	Rho     json.RawMessage `json:"rho,omitempty"`
	Limits  json.RawMessage `json:"limits,omitempty"`
	Prompts json.RawMessage `json:"prompts,omitempty"`
}

// addJSON adds the parts that are given as JSON.
func (c *runCreate) addJSON(body api.NewRun) (all runWithParts, err error) {
	all = runWithParts{NewRun: body, Beta: []byte(c.Beta), Rho: []byte(c.Rho), Limits: []byte(c.Limits)}
	if c.Prompts != "" {
		if all.Prompts, err = os.ReadFile(c.Prompts); err != nil {
			return all, err
		}
	}
	for name, text := range map[string]json.RawMessage{"beta": all.Beta, "rho": all.Rho, "limits": all.Limits, "prompts": all.Prompts} {
		if len(text) > 0 && !json.Valid(text) {
			return all, relabel.Errorf(relabel.CodeInvalid, "not JSON: %s", text).On("--" + name)
		}
	}
	return all, nil
}

// runList is `relabel run list`.
type runList struct{ ClientFlags }

// Run prints the runs.
func (c *runList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		runs, err := cl.Runs(ctx)
		if err != nil {
			return err
		}
		t := NewTable("ID", "NAME", "RECIPE", "SEED", "MADE", "PRIORITY", "QUOTA", "PAUSED", "DELETING")
		for _, r := range runs {
			t.Row(r.ID, r.Name, r.Recipe, r.Seed, r.CreatedAt.Format("2006-01-02 15:04"), r.Priority, quota(r.Quota), paused(r.Paused), deletingSince(r.DeletingAt))
		}
		return t.Print()
	})
}

// findRun finds a run by its id or its name.
func findRun(ctx context.Context, cl *Session, nameOrID string) (relabel.Run, error) {
	r, err := cl.Run(ctx, nameOrID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = relabel.Errorf(relabel.CodeNotFound, "no run %q; `relabel run list` shows what there is", nameOrID)
	}
	return r.Run, err
}

// runShow is `relabel run show RUN`.
type runShow struct {
	ClientFlags
	RunName string `arg:"" name:"run" help:"Name or id of the run."`
}

// Run prints the run's iterations.
func (c *runShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		if err := printRuns(ctx, cl, true, run); err != nil {
			return err
		}
		return printSpent(ctx, cl, run)
	})
}

// runTrajectories is `relabel run trajectories RUN`.
type runTrajectories struct {
	ClientFlags
	RunName string `arg:"" name:"run" help:"Name or id of the run."`
	State   string `help:"Only those in this state."`
}

// Run prints the trajectories.
func (c *runTrajectories) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		query := url.Values{"run": {run.ID.String()}}
		if c.State != "" {
			query.Set("state", c.State)
		}
		all, err := cl.Trajectories(ctx, query)
		if err != nil {
			return err
		}
		t := NewTable("ID", "ITERATION", "INSTANCE", "STATE", "TURNS", "END", "SUBMITTED", "PASSED", "RESOLVED", "FAILURE", "DETAIL")
		for _, j := range all {
			t.Row(j.ID, fmt.Sprintf("%s %d", j.Kind, j.Iteration), j.InstanceID, j.State, j.Turns, j.EndReason, Truth(j.Submitted), Truth(j.Passed), Truth(j.Resolved), j.Failure, oneLine(j.FailureDetail))
		}
		return t.Print()
	})
}

// Truth shows a truth that may not be known yet.
func Truth(b *bool) string {
	if b == nil {
		return ""
	}
	return Yes(*b)
}
