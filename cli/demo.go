package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relabel"
	"relabel/api"
)

// DemoCommand is `relabel demo`: three DAgger iterations and an AggreVaTe one. It reuses what an
// earlier demo in the same data folder has done.
type DemoCommand struct {
	ServeFlags
	TaskFile     string `name:"tasks" required:"" type:"existingfile" placeholder:"FILE" help:"Tasks to roll out, as JSONL; make demo builds them."`
	HeldOut      string `default:"pypi__parse-1.20.2" help:"Instance that is held out for evaluation, if the file has it."`
	Teacher      string `placeholder:"URL" help:"Chat-completions endpoint of a real teacher, including /v1. Default: a scripted one that knows the gold patches."`
	TeacherModel string `placeholder:"MODEL" help:"Model name of the teacher."`
	Student      string `placeholder:"URL" help:"Endpoint of a real student. Default: a scripted one."`
	StudentModel string `placeholder:"MODEL" help:"Model name of the student."`
	TeacherKey   string `name:"teacher-secret" placeholder:"NAME" help:"Name of the teacher's secret (RELABEL_SECRET_<NAME> in the environment)."`
	StudentKey   string `name:"student-secret" placeholder:"NAME" help:"Name of the student's secret."`
	Scripted     string `name:"scripted-listen" default:"127.0.0.1:7789" help:"Address of the scripted policies."`
	Exit         bool   `help:"End after the export instead of serving the viewer."`
	Tokenizer    string `type:"existingdir" placeholder:"DIR" help:"Folder with the student's tokenizer, to export token ids too. Default: export messages only."`
	Seed         int64  `default:"1" help:"Seed of all draws."`
}

// demoTeacher is the model name of the scripted teacher.
const demoTeacher = "scripted-teacher"

// demoSkills are the scripted students of the rounds. Each is a little better than the one
// before, as after training.
var demoSkills = []string{"scripted-student-0.3", "scripted-student-0.5", "scripted-student-0.7"}

// Run collects, exports, prints a table and serves the page.
func (c *DemoCommand) Run(ctx context.Context, p *Ports) error {
	begin := time.Now()
	tasks, err := ReadTaskFile(c.TaskFile)
	if err != nil {
		return err
	}
	if err := c.reach(ctx, p); err != nil {
		return err
	}
	return p.Serve(ctx, c.ServeFlags, func(ctx context.Context, cl *Session, validate ValidateTask) error {
		stop, err := c.serveScripted(ctx, p, tasks)
		if err != nil {
			return err
		}
		defer stop()
		d := demo{command: c, client: cl, validateTask: validate, openMirrors: p.OpenMirrors, tasks: tasks}
		if err := d.collect(ctx); err != nil {
			if ctx.Err() != nil {
				err = Interruptedf("the same command resumes where this one stopped")
			}
			return err
		}
		fmt.Printf("\nThis took %s.\n", time.Since(begin).Round(time.Second))
		if c.Exit {
			return nil
		}
		fmt.Printf("Look at it: %s   (Ctrl-C ends)\n", cl.Base)
		<-ctx.Done()
		return nil
	})
}

// demo is the state of one demo.
type demo struct {
	command      *DemoCommand
	client       *Session
	validateTask ValidateTask
	openMirrors  OpenMirrors
	tasks        []relabel.Task
	set          relabel.Taskset
	teacher      relabel.Policy
	// tokenizer is the registered name of the student's tokenizer, "" without one.
	tokenizer string
}

// collect does every step of the demo.
func (d *demo) collect(ctx context.Context) error {
	if err := d.importTasks(ctx); err != nil {
		return err
	}
	say("Look at it while it runs: %s", d.client.Base)
	if err := d.validate(ctx); err != nil {
		return err
	}
	var err error
	if d.tokenizer, err = UseTokenizer(ctx, d.client, d.command.Tokenizer); err != nil {
		return err
	}
	if d.teacher, err = d.policy(ctx, d.command.endpoints()[0], demoTeacher); err != nil {
		return err
	}
	dagger, err := d.run(ctx, "demo-dagger", relabel.DAgger, nil)
	if err != nil {
		return err
	}
	aggrevate, err := d.run(ctx, "demo-aggrevate", relabel.AggreVaTe, &relabel.RhoSchedule{Kind: "shifting", Max: 8})
	if err != nil {
		return err
	}
	// The runs do not depend on each other, so all of them begin at once; only the rounds of DAgger
	// follow one another.
	prefixes, err := d.begin(ctx, aggrevate, relabel.Collect, 1, demoSkills[0])
	if err != nil {
		return err
	}
	localised, searches, err := d.localise(ctx)
	if err != nil {
		return err
	}
	if err := d.rounds(ctx, dagger); err != nil {
		return err
	}
	if err := d.watch(ctx, append([]begun{prefixes}, searches...)...); err != nil {
		return err
	}
	return d.report(ctx, localised, dagger, aggrevate)
}

// importTasks imports the task file.
func (d *demo) importTasks(ctx context.Context) error {
	file, err := os.ReadFile(d.command.TaskFile)
	if err != nil {
		return err
	}
	d.set, err = d.importFile(ctx, "demo", file)
	return err
}

// importFile imports tasks unless they were imported before. The set is named after kind and tasks.
func (d *demo) importFile(ctx context.Context, kind string, file []byte) (relabel.Taskset, error) {
	digest := digestOf(file)
	sets, err := d.client.Tasksets(ctx)
	if err != nil {
		return relabel.Taskset{}, err
	}
	if s := Find(sets, func(s relabel.Taskset) bool { return s.Digest == digest }); s != nil {
		say("Tasks of %s: %d, imported before.", s.Name, s.Tasks)
		return *s, nil
	}
	query := url.Values{"name": {kind + "-" + digest[:8]}}
	if slices.ContainsFunc(d.tasks, func(t relabel.Task) bool { return t.InstanceID == d.command.HeldOut }) {
		query.Set("held_out", d.command.HeldOut)
	}
	imported, err := d.client.ImportTaskset(ctx, query, bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return relabel.Taskset{}, err
	}
	say("Tasks of %s: %d imported, %d held out.", imported.Name, imported.Tasks, imported.HeldOut)
	return imported.Taskset, nil
}

// builtSound reports whether the tasks are those that `tasks build` wrote beside its report: it runs the
// gold and the empty patch of each task.
func (d *demo) builtSound() bool {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(d.command.TaskFile), "report.json"))
	if err != nil {
		return false
	}
	var report struct {
		TasksSHA256 string `json:"tasks_sha256"`
	}
	return json.Unmarshal(text, &report) == nil && report.TasksSHA256 == d.set.Digest
}

// validate runs the gold and the empty patch of each task, once for a file of tasks.
func (d *demo) validate(ctx context.Context) error {
	if d.builtSound() {
		say("All tasks were found sound when they were built: their tests pass with the gold patch, and do not without it.")
		return nil
	}
	runs, err := d.client.Runs(ctx)
	if err != nil || Find(runs, func(r relabel.Run) bool { return strings.HasPrefix(r.Name, "demo-dagger-"+d.set.Digest[:8]) }) != nil {
		return err // a run exists only if its tasks were validated
	}
	fmt.Println("Validating: the gold patch must resolve, the empty patch must not.")
	w := validating{validate: d.validateTask, options: ValidateOptions{Times: 1, VerifySeconds: relabel.PaperLimits.VerifySeconds}, jobs: 2}
	found, err := w.all(ctx, d.tasks)
	if err != nil {
		return err
	}
	return errors.Join(printValidations(d.tasks, found), failUnlessSound(found))
}

// policy registers an endpoint: the real one if its URL is given, else a scripted one. relabel does
// not request token ids from a scripted one: they belong to no tokenizer, so an export would report
// a difference in each prompt.
func (d *demo) policy(ctx context.Context, e endpoint, scriptedModel string) (relabel.Policy, error) {
	p := api.NewPolicy{Name: scriptedModel, BaseURL: "http://" + d.command.Scripted + "/v1", Model: scriptedModel}
	if e.base != "" {
		p = api.NewPolicy{Name: demoPolicy(e).Name, BaseURL: e.base, Model: e.model, Secret: e.secret}
	}
	return d.client.CreatePolicy(ctx, p)
}

// runName names the demo's runs by their tasks, endpoints and seed, so that other values give
// other runs.
func (d *demo) runName(kind string) string {
	name := kind + "-" + d.set.Digest[:8]
	c := d.command
	if c.Teacher == "" && c.Student == "" && c.Seed == 1 {
		return name
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d", c.Teacher, c.TeacherModel, c.Student, c.StudentModel, c.Seed))
	return name + "-" + hex.EncodeToString(sum[:4])
}

// run finds or creates a run.
func (d *demo) run(ctx context.Context, kind string, recipe relabel.Recipe, rho *relabel.RhoSchedule) (relabel.Run, error) {
	runs, err := d.client.Runs(ctx)
	if err != nil {
		return relabel.Run{}, err
	}
	if r := Find(runs, func(r relabel.Run) bool { return r.Name == d.runName(kind) }); r != nil {
		return *r, nil
	}
	return d.client.CreateRun(ctx, api.NewRun{Name: d.runName(kind), Recipe: recipe, Taskset: d.set.ID.String(), Teacher: d.teacher.ID.String(), Rho: rho, Seed: d.command.Seed})
}

// rounds collects round after round, and evaluates the last student beside its own.
func (d *demo) rounds(ctx context.Context, dagger relabel.Run) error {
	last := len(demoSkills) - 1
	for i, model := range demoSkills {
		round, err := d.begin(ctx, dagger, relabel.Collect, i+1, model)
		if err != nil {
			return err
		}
		all := []begun{round}
		if i == last {
			if all, err = d.addEvaluation(ctx, all, dagger, model); err != nil {
				return err
			}
		}
		if err := d.watch(ctx, all...); err != nil {
			return err
		}
	}
	return nil
}

// addEvaluation begins to evaluate a student on the held-out tasks, if there are any.
func (d *demo) addEvaluation(ctx context.Context, all []begun, dagger relabel.Run, model string) ([]begun, error) {
	if d.set.HeldOut == 0 {
		say("No evaluation: no task is held out. --held-out INSTANCE holds one of the file's tasks out, and evaluates the last student on it.")
		return all, nil
	}
	evaluation, err := d.begin(ctx, dagger, relabel.Evaluate, 1, model)
	return append(all, evaluation), err
}

// begun is an iteration that runs or has ended.
type begun struct {
	id    relabel.ID
	title string
}

// begin finds or starts an iteration.
func (d *demo) begin(ctx context.Context, run relabel.Run, kind relabel.IterationKind, number int, model string) (begun, error) {
	its, err := d.client.Iterations(ctx, run.ID)
	if err != nil {
		return begun{}, err
	}
	what := string(run.Recipe)
	if run.TaskKind == relabel.Localise {
		what = "localise"
	}
	title := fmt.Sprintf("%s, %s %d", what, kind, number)
	if it := Find(its, func(it api.IterationView) bool { return it.Kind == kind && it.Number == number }); it != nil {
		return begun{it.ID, title}, nil
	}
	student, err := d.policy(ctx, d.command.endpoints()[1], model)
	if err != nil {
		return begun{}, err
	}
	started, err := d.client.StartIteration(ctx, run.ID, api.NewIteration{Kind: kind, Student: student.ID.String(), HeldOut: kind == relabel.Evaluate})
	return begun{started.ID, title}, err
}

// watch shows iterations one after the other until they have ended, and fails if one did.
func (d *demo) watch(ctx context.Context, all ...begun) error {
	for _, b := range all {
		end, err := WatchIteration(ctx, d.client, b.id, b.title)
		if err != nil {
			return err
		}
		if err := Outcome(end); err != nil {
			again := fmt.Errorf("%w; after fixing the cause, --seed %d starts new runs", err, d.command.Seed+1)
			return errors.Join(PrintCauses(ctx, d.client, b.title, end), again)
		}
	}
	return nil
}
