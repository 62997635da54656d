package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"relabel"
)

func (s *site) addRuns() {
	add(s, operation(http.MethodPost, "/v1/runs", "runs", "create-run", "Create a run",
		"Fixes an experiment: tasks, teacher, recipe, schedule, limits and seed. Nothing is rolled out before its first iteration."), s.createRun)
	add(s, operation(http.MethodGet, "/v1/runs", "runs", "list-runs", "List runs", "All runs, newest first."), s.listRuns)
	add(s, operation(http.MethodGet, "/v1/runs/{id}", "runs", "show-run", "Show a run", "One run, with its prompts as every trajectory opens with them, and what it has used of its budget."), s.showRun)
}

// NewRun describes an experiment.
type NewRun struct {
	Name      string            `json:"name" minLength:"1" maxLength:"200" doc:"Its name; no other run may have it."`
	Recipe    relabel.Recipe    `json:"recipe" enum:"sft,dagger,aggrevate" doc:"Where states come from (paper table 2): teacher states, the turn mixture of eq. 8, or student prefixes of eq. 9."`
	Scaffold  string            `json:"scaffold,omitempty" maxLength:"100" default:"openhands" doc:"The tools and prompts that agents work with."`
	Prompts   *NewPrompts       `json:"prompts,omitempty" doc:"Texts in the place of the scaffold's own."`
	Taskset   string            `json:"taskset" minLength:"1" maxLength:"200" doc:"The taskset: its id or its name."`
	Instances []string          `json:"instances,omitempty" maxItems:"100000" doc:"Instance ids to roll out; empty: every task that is not held out."`
	Teacher   string            `json:"teacher" minLength:"1" maxLength:"200" doc:"The teacher policy: its id, its name, or name@version."`
	Beta      *NewBeta          `json:"beta,omitempty" doc:"Schedule of βi, for dagger. Default: linear, 1.0, −0.2 an iteration, never below 0.6 (paper F.1)."`
	Rho       *NewRho           `json:"rho,omitempty" doc:"Schedule of ρi, the law of the student-prefix length κ, for aggrevate. Default: shifting, at most 40 turns (paper F.1)."`
	Labels    relabel.LabelMode `json:"labels,omitempty" enum:"beside,deferred,batch" default:"beside" doc:"When the teacher is asked for the labels of the student's turns: beside the rollout, deferred until the iteration's last rollout is over, or batch: then and through the teacher's batch endpoint (files and batches, as OpenAI has them)."`
	Limits    *NewRunLimits     `json:"limits,omitempty" doc:"Bounds of each trajectory."`
	Budget    *NewBudget        `json:"budget,omitempty" doc:"What its calls may use before it is paused. It can be changed later."`
	Webhook   *NewWebhook       `json:"webhook,omitempty" doc:"Who is told when an iteration or an export is over, or the run paused by itself. It can be changed later."`
	Seed      int64             `json:"seed,omitempty" doc:"Seed of every draw: the same seed gives the same draws on any machine."`
}

// NewPrompts are a run's own texts; what is left out stays the scaffold's.
type NewPrompts struct {
	System string    `json:"system,omitempty" doc:"System message."`
	First  string    `json:"first,omitempty" doc:"First user message. {workdir}, {problem_statement} and {hints_text} stand for the task's; {hints?}…{/hints?} is left out where there are no hints."`
	Tools  []NewTool `json:"tools,omitempty" maxItems:"100" doc:"Descriptions of the scaffold's tools."`
}

// NewTool describes a tool to the models.
type NewTool struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" doc:"The tool's name."`
	Description string `json:"description" doc:"What the models are told about it."`
	Parameters  string `json:"parameters" doc:"JSON Schema of its arguments, as text: the models see its keys in this order."`
}

// NewBeta is a schedule of βi.
type NewBeta struct {
	Kind   string    `json:"kind" enum:"linear,exponential,constant,list" doc:"The schedule's form."`
	Start  float64   `json:"start,omitempty" minimum:"0" maximum:"1" doc:"β1 of linear and exponential, the value of constant; a probability."`
	Step   float64   `json:"step,omitempty" minimum:"0" maximum:"1" doc:"Linear: what is taken off an iteration."`
	Decay  float64   `json:"decay,omitempty" minimum:"0" maximum:"1" doc:"Exponential: the factor an iteration."`
	Floor  float64   `json:"floor,omitempty" minimum:"0" maximum:"1" doc:"Linear and exponential: never below this."`
	Values []float64 `json:"values,omitempty" maxItems:"10000" doc:"List: β1, β2, …, each a probability; the last one holds on."`
}

// NewRho is a schedule of ρi.
type NewRho struct {
	Kind   string `json:"kind" enum:"shifting,uniform,constant,list" doc:"The schedule's form."`
	Max    int    `json:"max,omitempty" minimum:"0" maximum:"1000" doc:"Largest κ of shifting and uniform, the value of constant; in turns."`
	Values []int  `json:"values,omitempty" maxItems:"10000" doc:"List: κ of iteration 1, 2, …, in turns; the last one holds on."`
}

// NewRunLimits bounds each trajectory; what is left out takes the paper's value.
type NewRunLimits struct {
	MaxTurns           *int `json:"max_turns,omitempty" minimum:"1" maximum:"1000" doc:"Most turns of a trajectory (Tmax). Default 100."`
	MaxContextTokens   *int `json:"max_context_tokens,omitempty" minimum:"256" maximum:"10000000" doc:"Most tokens of prompt and answer together. Default 65536."`
	WallClockSeconds   *int `json:"wall_clock_seconds,omitempty" minimum:"1" maximum:"604800" doc:"Seconds that a rollout may take, without its verification. Default 3600."`
	CommandSeconds     *int `json:"command_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Seconds without output after which a command is ended. Default 120."`
	VerifySeconds      *int `json:"verify_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Seconds that the test command may take. Default 1800."`
	EnvironmentRetries *int `json:"environment_retries,omitempty" minimum:"0" maximum:"100" doc:"Attempts that may end with a broken sandbox or verifier before a trajectory fails. Default 3."`
}

func (s *site) createRun(ctx context.Context, in *of[NewRun]) (*of[relabel.Run], error) {
	b := in.Body
	r := relabel.Run{ID: relabel.NewID(), Name: b.Name, Recipe: b.Recipe, Scaffold: b.Scaffold,
		Instances: b.Instances, Beta: (*relabel.BetaSchedule)(b.Beta), Rho: (*relabel.RhoSchedule)(b.Rho), Labels: b.Labels, Limits: b.Limits.over(relabel.PaperLimits), Seed: b.Seed}
	if err := errors.Join(checkNewName(b.Name), s.checkNotices(b.Budget, b.Webhook)); err != nil {
		return nil, err
	}
	r.Budget = (*relabel.Budget)(b.Budget)
	if b.Webhook != nil && b.Webhook.URL != "" {
		r.Webhook = (*relabel.Webhook)(b.Webhook)
	}
	var err error
	if r.Prompts, err = s.prompts(b.Scaffold, b.Prompts); err != nil {
		return nil, err
	}
	set, err := s.findTaskset(ctx, b.Taskset)
	if err != nil {
		return nil, asField(err, "taskset")
	}
	r.TasksetID = set.ID
	teacher, err := s.findPolicy(ctx, b.Teacher)
	if err != nil {
		return nil, asField(err, "teacher")
	}
	r.TeacherID = teacher.ID
	if err := s.checkInstances(ctx, r); err != nil {
		return nil, err
	}
	if r, err = s.PrepareRun(r); err != nil {
		return nil, err
	}
	if err := s.Store.CreateRun(ctx, r); err != nil {
		return nil, err
	}
	return one(s.Store.FindRun(ctx, r.ID))
}

// prompts puts a run's own texts over the scaffold's.
func (s *site) prompts(scaffold string, own *NewPrompts) (relabel.Prompts, error) {
	p, err := s.DefaultPrompts(scaffold)
	if err != nil || own == nil {
		return p, err
	}
	if own.System != "" {
		p.System = own.System
	}
	if own.First != "" {
		p.First = own.First
	}
	if len(own.Tools) == 0 {
		return p, nil
	}
	p.Tools = nil
	for i, t := range own.Tools {
		var schema map[string]json.RawMessage
		if json.Unmarshal([]byte(t.Parameters), &schema) != nil || schema == nil {
			return p, relabel.Errorf(relabel.CodeInvalid, "not a JSON object").On(fmt.Sprintf("prompts.tools[%d].parameters", i))
		}
		p.Tools = append(p.Tools, relabel.Tool(t))
	}
	return p, nil
}

// checkInstances refuses instances that the taskset lacks or holds out.
func (s *site) checkInstances(ctx context.Context, r relabel.Run) error {
	if len(r.Instances) == 0 {
		return nil
	}
	leave, err := s.bodies.beginDraw(ctx)
	if err != nil {
		return err
	}
	defer leave()
	tasks, err := s.Store.ListTaskNames(ctx, r.TasksetID)
	if err != nil {
		return err
	}
	heldOut := map[string]bool{}
	for _, t := range tasks {
		heldOut[t.InstanceID] = t.HeldOut
	}
	for i, id := range r.Instances {
		field := fmt.Sprintf("instances[%d]", i)
		switch held, known := heldOut[id]; {
		case !known:
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is not in the taskset", id).On(field)
		case held:
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is held out", id).On(field)
		}
	}
	return nil
}

// over puts the given limits over the defaults.
func (l *NewRunLimits) over(d relabel.RunLimits) relabel.RunLimits {
	if l == nil {
		return d
	}
	set(&d.MaxTurns, l.MaxTurns)
	set(&d.MaxContextTokens, l.MaxContextTokens)
	set(&d.WallClockSeconds, l.WallClockSeconds)
	set(&d.CommandSeconds, l.CommandSeconds)
	set(&d.VerifySeconds, l.VerifySeconds)
	set(&d.EnvironmentRetries, l.EnvironmentRetries)
	return d
}

func (s *site) listRuns(ctx context.Context, in *PageQuery) (*of[Page[relabel.Run]], error) {
	return pageOf(s.Store.ListRuns(ctx, in.page()))
}

// RunView is a run with what it has used.
type RunView struct {
	relabel.Run
	Spent   relabel.Spent    `json:"spent" doc:"What its calls have used so far."`
	Outages []relabel.Outage `json:"waiting_for_endpoint" doc:"Policies that are down and that its queued trajectories wait for: they are not claimed meanwhile."`
}

func (s *site) showRun(ctx context.Context, in *IDPath) (*of[RunView], error) {
	run, err := s.Store.FindRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	spent, err := s.Store.FindSpent(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	outages, err := s.Store.ListOutages(ctx, &in.ID)
	return one(RunView{run, spent, orEmpty(outages)}, err)
}
