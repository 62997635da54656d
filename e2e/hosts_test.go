package e2e

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"relabel"
	"relabel/envs/docker/dockertest"
	"relabel/policy/scripted"
)

// attempts lists the attempts of a trajectory.
func (b *bench) attempts(t testing.TB, id relabel.ID) []relabel.Attempt {
	t.Helper()
	var page struct{ Items []relabel.Attempt }
	noError(t, b.api.get(t.Context(), "/v1/trajectories/"+id.String()+"/attempts", &page))
	return page.Items
}

// One process drives two engines. One of them dies in the middle of rollouts: they continue
// if the other is, from the turns that were committed.
func TestTrajectoriesOfADeadEngineContinueOnAnotherEngine(t *testing.T) {
	t.Parallel()
	l, second := newLab(t), dockertest.StartEngine(t, "")
	second.LoadImage(l.tasks[0].Image)
	m := newModels(t, l, scripted.Config{TeacherDelay: 100 * time.Millisecond})
	l.env = append(l.env, "RELABEL_ROLLOUTS=2", "RELABEL_PREFETCH=0", "DOCKER_HOST=unix:///var/run/docker.sock?slots=2,"+second.Address()+"?slots=4")
	b := newBench(t, l, m.teacher())
	iteration := b.start(t, b.run(t, "two", nil), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	var there relabel.ID
	eventually(t, "a turn is committed on the second engine", func() bool {
		all, err := b.api.Trajectories(t.Context(), url.Values{"state": {"running"}})
		noError(t, err)
		for _, j := range all {
			if a := b.attempts(t, j.ID); j.Turns > 0 && a[len(a)-1].DockerHost == second.Address() {
				there = j.ID
				return true
			}
		}
		return false
	})
	second.Kill()
	eventually(t, "the dead engine is told of", func() bool { return strings.Contains(l.must(t, "worker", "list"), "does not answer") })
	if code, said := b.api.status(t, http.MethodGet, "/readyz", ""); code != http.StatusOK || !strings.Contains(said, second.Address()) {
		t.Errorf("with one engine of two: %d %s", code, said)
	}
	r := b.finish(t, iteration)
	for _, j := range r.trajectories {
		if j.State != relabel.Done {
			t.Errorf("%s is %s: %s", j.InstanceID, j.State, j.FailureDetail)
		}
	}
	a := b.attempts(t, there)
	if first, last := a[0], a[len(a)-1]; len(a) < 2 || first.DockerHost != second.Address() || !strings.Contains(first.Reason, "engine") || last.DockerHost != "unix:///var/run/docker.sock" {
		t.Errorf("attempts: %+v", a)
	}
	second.Start()
	engine, ours := second.Client(), filters.NewArgs(filters.Arg("label", "relabel.instance="+l.instance(t)))
	eventually(t, "nothing is left on the engine that is back", func() bool {
		left, err := engine.ContainerList(bounded(t), container.ListOptions{All: true, Filters: ours})
		noError(t, err)
		// An engine that was killed while it removed a container may list it, and have none.
		left = slices.DeleteFunc(left, func(c container.Summary) bool {
			_, err := engine.ContainerInspect(bounded(t), c.ID)
			return errdefs.IsNotFound(err)
		})
		if len(left) > 0 {
			t.Logf("still there: %s, %s", left[0].Names, left[0].Status)
		}
		return len(left) == 0
	})
}

func TestNoWorkIsClaimedWhileDiskSpaceIsLow(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.data = dockertest.SmallDisk(t, "64m")
	l.env = append(l.env, "RELABEL_MIN_FREE=32MiB")
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	if code, said := b.api.status(t, http.MethodGet, "/readyz", ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, said)
	}
	fill := filepath.Join(l.data, "fill")
	noError(t, os.WriteFile(fill, make([]byte, 48<<20), 0o600))
	if code, said := b.api.status(t, http.MethodGet, "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(said, "has too little free space") {
		t.Errorf("%d %s", code, said)
	}
	iteration := b.start(t, b.run(t, "small", map[string]any{"instances": []string{"calc__add"}}), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	conn := l.connect(t)
	eventually(t, "the wake-up is put off", func() bool {
		var putOff int
		noError(t, conn.QueryRow(bounded(t), "SELECT count(*) FROM river_job WHERE queue = 'rollout' AND (metadata->>'snoozes')::int > 0").Scan(&putOff))
		return putOff > 0
	})
	all, err := b.api.Trajectories(t.Context(), url.Values{"iteration": {iteration.String()}})
	noError(t, err)
	if len(all) != 1 || all[0].State != relabel.Queued || all[0].Attempt != 0 {
		t.Errorf("begun without disk space: %+v", all)
	}
	noError(t, os.Remove(fill))
	if r := b.finish(t, iteration); r.trajectories[0].State != relabel.Done {
		t.Errorf("with disk space: %s", r.trajectories[0].State)
	}
}

// The image of a trajectory that waits is pulled while another one holds the only slot; it
// comes from a mirror, with a password that a secret holds.
func TestImagesOfQueuedTrajectoriesArePrefetched(t *testing.T) {
	t.Parallel()
	l, s := newLab(t), &sleeper{}
	registry := dockertest.StartRegistry(t, "someone", "canary-91c4")
	for i := range l.tasks {
		base := "relabel/test-ahead:" + string(rune('a'+i)) + "-" + filepath.Base(l.data)
		registry.Push(l.tasks[i].Image, base)
		l.tasks[i].Image = "registry.invalid/" + base
		t.Cleanup(func() {
			if _, err := l.engine.ImageRemove(context.Background(), l.tasks[i].Image, image.RemoveOptions{Force: true}); err != nil && !errdefs.IsNotFound(err) {
				t.Error(err)
			}
		})
	}
	l.writeTasks(t)
	l.env = append(l.env, "RELABEL_ROLLOUTS=1", "RELABEL_PREFETCH=1", "RELABEL_REGISTRY_MIRRORS=registry.invalid="+registry.Host,
		"RELABEL_REGISTRY_SECRETS="+registry.Host+"=mirror", "RELABEL_SECRET_MIRROR=someone:canary-91c4")
	endpoint := listenFor(t, s)
	b := newBench(t, l, relabel.Policy{Name: "naps", BaseURL: endpoint + "/v1", Model: "m"})
	iteration := b.start(t, b.run(t, "ahead", nothingElse), b.teacher, map[string]any{"beta": 1, "generations": 2})
	var waiting string
	eventually(t, "the only slot is held, and another image is there", func() bool {
		all, err := b.api.Trajectories(t.Context(), url.Values{"iteration": {iteration.String()}})
		noError(t, err)
		claimed := map[string]bool{}
		for _, j := range all {
			claimed[j.InstanceID] = claimed[j.InstanceID] || j.State != relabel.Queued
		}
		for _, task := range l.tasks {
			if _, err := l.engine.ImageInspect(bounded(t), task.Image); err == nil && !claimed[task.InstanceID] && s.answered.Load() > 0 {
				waiting = task.Image
			}
		}
		return waiting != ""
	})
	l.must(t, "run", "cancel", "ahead")
	var noted []string
	rows, err := l.connect(t).Query(bounded(t), "SELECT image FROM pulled_images")
	noError(t, err)
	for rows.Next() {
		var name string
		noError(t, rows.Scan(&name))
		noted = append(noted, name)
	}
	if !slices.Contains(noted, waiting) {
		t.Errorf("noted as pulled are %v, not %s", noted, waiting)
	}
	if strings.Contains(b.server.said.String(), "canary-91c4") {
		t.Error("the log gives the password away")
	}
}
