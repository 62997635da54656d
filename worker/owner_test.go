package worker

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestAZombieCountsAsGone(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	owner := fmt.Sprintf("%s/%d/x", machineID(), cmd.Process.Pid)
	if IsGone(owner) {
		t.Error("a live process counts as gone")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !IsGone(owner); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a zombie does not count as gone")
		}
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", cmd.Process.Pid)); err != nil {
		t.Errorf("it was not a zombie: %v", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if !IsGone(owner) || IsGone("elsewhere/1/x") || IsGone(NewOwner()) {
		t.Error("a dead process does not count as gone, or another one does")
	}
}

func TestTheNameOfAProcessIsNotItsState(t *testing.T) {
	if hasEnded("7 (a) Z (b) S 1 7") || !hasEnded("7 (a) S (b) Z 1 7") {
		t.Error("the name was read as the state")
	}
}
