package rollout

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"relabel/e2e/e2etest"
)

func TestMain(m *testing.M) {
	// Rollouts with a dead endpoint wait most of the time.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// everyFault asks for all faults of the long tests instead of a selection: RELABEL_TEST_ALL.
var everyFault = os.Getenv("RELABEL_TEST_ALL") != ""

// partOfFaults returns which faults to try: of RELABEL_TEST_ALL=K/N every Nth from number K on,
// else all.
func partOfFaults() (first, step int) {
	if _, err := fmt.Sscanf(os.Getenv("RELABEL_TEST_ALL"), "%d/%d", &first, &step); err != nil {
		return 0, 1
	}
	return first, step
}

var (
	eventually = e2etest.Eventually
	noError    = e2etest.NoError
	listenFor  = e2etest.Listen
	write      = e2etest.Write
	git        = e2etest.Git
)
