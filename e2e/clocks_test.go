package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"relabel"
	"relabel/policy/scripted"
)

// shiftedClock is a library that shifts what a program reads from the C library's clock by
// CLOCK_SHIFT seconds. Go programs do not ask it; Postgres does.
const shiftedClock = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static time_t shift(void) { const char *s = getenv("CLOCK_SHIFT"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec *t) {
	static int (*real)(clockid_t, struct timespec *);
	if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
	int r = real(id, t);
	if (!r && id == CLOCK_REALTIME) t->tv_sec += shift();
	return r;
}
int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}
time_t time(time_t *t) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (t) *t = now.tv_sec;
	return now.tv_sec;
}
`

// TestWorkersWithWrongClocksLoseNoTrajectory sets Postgres's clock an hour ahead of the
// workers' and behind it. Leases follow its clock alone: no worker loses a trajectory,
// and the trajectory of a stopped worker is taken over when its lease expires.
func TestWorkersWithWrongClocksLoseNoTrajectory(t *testing.T) {
	t.Parallel()
	for name, shift := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apart(t, shift)
		})
	}
}

func apart(t *testing.T, shift time.Duration) {
	dir := t.TempDir()
	write(t, dir, "clock.c", shiftedClock)
	library := filepath.Join(openFolder(t), "clock.so") // where Postgres's user can read it
	if said, err := exec.CommandContext(bounded(t), "cc", "-shared", "-fPIC", "-o", library, filepath.Join(dir, "clock.c"), "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	l := newLocalLab(t, openFolder(t))
	l.env = append(l.env, "RELABEL_LEASE=4s", "RELABEL_ROLLOUTS=1", "RELABEL_PREFETCH=0")
	there := l.place
	l.env = append(l.env, "LD_PRELOAD="+library, "CLOCK_SHIFT="+strconv.Itoa(int(shift.Seconds())))
	m := newModels(t, l, scripted.Config{TeacherDelay: 700 * time.Millisecond}) // rollouts take longer than leases
	b := &bench{lab: l}
	b.server, b.api = l.serve(t, "--no-work")
	database, err := os.ReadFile(filepath.Join(l.data, "database.url"))
	noError(t, err)
	there.database = strings.TrimSpace(string(database))
	var now time.Time
	noError(t, l.connect(t).QueryRow(bounded(t), "SELECT clock_timestamp()").Scan(&now))
	if off := now.Sub(time.Now().Add(shift)).Abs(); off > time.Minute {
		t.Fatalf("Postgres's clock is off by %s", time.Until(now))
	}
	b.seed(t, m.teacher())
	first, second := there.start(t, "worker").tellOnFailure(), there.start(t, "worker").tellOnFailure()
	iteration := b.start(t, b.run(t, "apart", nil), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	for _, j := range b.finish(t, iteration).trajectories {
		if j.State != relabel.Done || j.Attempt != 1 {
			t.Errorf("%s is %s in attempt %d", j.InstanceID, j.State, j.Attempt)
		}
	}
	iteration = b.start(t, b.run(t, "apart and stopped", nil), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	eventually(t, "both are at work", func() bool {
		all, err := b.api.Trajectories(t.Context(), url.Values{"state": {"running"}})
		noError(t, err)
		return len(all) == 2
	})
	noError(t, first.cmd.Process.Signal(syscall.SIGSTOP))
	taken := 0
	for _, j := range b.finish(t, iteration).trajectories {
		taken += j.Attempt - 1
		if j.State != relabel.Done {
			t.Errorf("%s is %s", j.InstanceID, j.State)
		}
	}
	if taken != 1 {
		t.Errorf("%d takeovers of one stopped worker", taken)
	}
	noError(t, first.cmd.Process.Signal(syscall.SIGCONT))
	for _, p := range []*process{first, second, b.server} {
		if code := p.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("it ended with %d: %s", code, p.said.String())
		}
	}
}
