package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
)

// How large the benchmarks are, for machines of other sizes.
var (
	atOnce  = flag.Int("at-once", 256, "trajectories at once, where one worker is measured")
	turns   = flag.Int("turns", 20, "turns of a trajectory")
	student = flag.Duration("student", studentTime, "how long the student takes for an answer; the teacher takes twice as long")
	command = flag.Duration("command", commandTime, "how long a command takes")
	crowd   = flag.Int("crowd", 10_000, "trajectories at once, of the simulation")
	profile = flag.String("profile", "", "folder for CPU and heap profiles of the worker processes")
)

// TestMain is also the main function of the processes that benchmarks start.
func TestMain(m *testing.M) {
	if plan := os.Getenv(planVariable); plan != "" {
		if err := obey(context.Background(), plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	code := m.Run()
	if err := stopPostgres(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// obey does in this process what the plan says.
func obey(ctx context.Context, plan string) error {
	var o orders
	if err := json.Unmarshal([]byte(plan), &o); err != nil {
		return err
	}
	switch {
	case o.Hammer:
		return hammer(ctx, o)
	case o.Exports != "":
		return buildExports(ctx, o)
	case o.Check != "":
		return checkExport(ctx, o)
	}
	return work(ctx, o)
}
