// Command loop closes the loop of DAgger on one CPU: it starts a relabel of its own, collects
// labelled states of the tasks of package repair with their scripted teacher, exports them, trains the
// small student beside this folder from the exports, registers it, and collects again with it. It
// compares arms, which differ only in who acts, at equal labels and updates, on held-out tasks.
//
// It uses only relabel's REST interface. Each step is written to record.json in the folder --out when
// it is done, so a run that was stopped continues there.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"relabel"
)

// options are the flags of the command.
type options struct {
	Arms        []string `default:"sft,low" enum:"sft,low,paper,aggrevate" help:"Arms to compare: sft (β = 1), low (β = 1, 0.6, 0.2, 0.2), paper (β = 1, 0.8, 0.6, 0.6), aggrevate (κ ~ Unif{0..4i})."`
	Seeds       []int    `default:"0" help:"Seeds, one after the other. A seed draws tasks, weights and batches."`
	Rounds      int      `default:"4" help:"Rounds. The first one has β = 1 and is shared by all arms."`
	BaseLabels  int      `default:"6000" help:"Labelled states of the first round."`
	BaseUpdates int      `default:"700" help:"Updates of the first round."`
	Labels      int      `default:"1500" help:"Labelled states of each later round."`
	Updates     int      `default:"150" help:"Updates of each later round."`
	Eval        int      `default:"200" help:"Held-out tasks of an evaluation."`
	EvalRounds  string   `default:"all" enum:"all,last" help:"Which rounds are evaluated; the first one always is."`
	Rollouts    int      `default:"6" help:"Trajectories rolled out at once."`
	Out         string   `default:"var/learn" help:"Folder of the data, checkpoints and results."`
	Relabel     string   `default:"bin/relabel" help:"The relabel program."`
	Programs    string   `default:"examples/train/learn" help:"Folder of train.py, serve.py and tokenizer/."`
	Python      string   `required:"" help:"Python with the packages of examples/train/requirements.txt."`
	Base        string   `default:"relabel/base:bookworm" help:"Image that the tasks' image starts from, with Python and git."`
}

// Validate refuses numbers that no run can have.
func (o options) Validate() error {
	for name, n := range map[string]int{"rounds": o.Rounds, "base-labels": o.BaseLabels, "base-updates": o.BaseUpdates,
		"labels": o.Labels, "updates": o.Updates, "eval": o.Eval, "rollouts": o.Rollouts} {
		if n < 1 {
			return relabel.Errorf(relabel.CodeInvalid, "must be at least 1").On("--" + name)
		}
	}
	return nil
}

// made are the settings that all steps depend on.
func (o options) made() madeOf {
	return madeOf{Rounds: o.Rounds, BaseLabels: o.BaseLabels, BaseUpdates: o.BaseUpdates, Labels: o.Labels, Updates: o.Updates, Eval: o.Eval}
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("loop"), kong.Description("Closes the loop: collect, export, train, register, collect again."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		stop()
		os.Exit(1)
	}
}

// run runs all seeds and writes the results.
func run(ctx context.Context, o options) error {
	l, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	for _, seed := range o.Seeds {
		if err := l.seed(ctx, seed); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return l.report()
}
