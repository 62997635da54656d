package docker_test

import (
	"context"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
	"github.com/google/uuid"

	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
)

// things makes a container, a volume and a network with labels, for the time of the test,
// and returns what asks for each whether it is still there.
func things(t *testing.T, engine *client.Client, image string, labels map[string]string) (name string, there func() []string) {
	t.Helper()
	ctx := context.Background()
	name = "relabel-test-" + uuid.NewString()
	if _, err := engine.ContainerCreate(ctx, &container.Config{Image: image, Cmd: []string{"true"}, Labels: labels}, nil, nil, nil, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.ContainerRemove(ctx, name, container.RemoveOptions{Force: true}) }) // it may be gone
	if _, err := engine.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.VolumeRemove(ctx, name, true) })
	if _, err := engine.NetworkCreate(ctx, name, network.CreateOptions{Driver: "null", Labels: labels}); err != nil {
		if _, err := engine.NetworkCreate(ctx, name, network.CreateOptions{Internal: true, Labels: labels}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = engine.NetworkRemove(ctx, name) })
	return name, func() (there []string) {
		if _, err := engine.ContainerInspect(ctx, name); err == nil {
			there = append(there, "container")
		}
		if _, err := engine.VolumeInspect(ctx, name); err == nil {
			there = append(there, "volume")
		}
		if _, err := engine.NetworkInspect(ctx, name, network.InspectOptions{}); err == nil {
			there = append(there, "network")
		}
		return there
	}
}

func TestReaperRemovesWhatDeadAttemptsLeftAndNothingElse(t *testing.T) {
	t.Parallel()
	engine, spec := engineOf(t), newSpec(t)
	instance, dead := "test-"+uuid.NewString(), uuid.NewString()
	host := dockertest.NewHostWith(t, docker.Config{Instance: instance})
	ours := func(trajectory, attempt string) map[string]string {
		return map[string]string{"relabel.instance": instance, "relabel.trajectory": trajectory, "relabel.attempt": attempt, "relabel.purpose": "rollout", "relabel.deadline": ""}
	}
	another := ours(dead, "1")
	another["relabel.instance"] = "test-another"
	all := map[string]map[string]string{
		"of a dead attempt": ours(dead, "1"), "of a live attempt": ours("live", "2"), "with broken labels": {"relabel.instance": instance, "relabel.attempt": "x"},
		"of another instance": another, "without labels": nil, "with other labels": {"instance": instance, "com.example": "relabel"},
	}
	want := map[string]bool{"of a dead attempt": false, "of a live attempt": true, "with broken labels": false, "of another instance": true, "without labels": true, "with other labels": true}
	names, there := map[string]string{}, map[string]func() []string{}
	for what, labels := range all {
		names[what], there[what] = things(t, engine, spec.Image, labels)
	}
	removed, err := host.Reap(t.Context(), func(l envs.Labels) bool { return l.Trajectory == "live" })
	if err != nil {
		t.Fatal(err)
	}
	for what, stays := range want {
		left := []string{"container", "volume", "network"}
		if !stays {
			left = nil
		}
		if got := there[what](); !slices.Equal(got, left) {
			t.Errorf("%s: left is %v, want %v", what, got, left)
		}
		for _, name := range []string{names[what], "volume " + names[what], "network " + names[what]} {
			if slices.Contains(removed, name) == stays {
				t.Errorf("%s: %s: reported as removed: %v", what, name, !stays)
			}
		}
	}
	if _, err := host.Reap(t.Context(), func(envs.Labels) bool { return false }); err != nil {
		t.Error(err)
	}
}

// The engine creates a volume that an image declares. The volume has our labels and is removed with its
// container.
func TestVolumesOfAnImageAreLabelledAndGoWithTheirSandbox(t *testing.T) {
	t.Parallel()
	engine, host, spec := engineOf(t), dockertest.NewHost(t), newSpec(t)
	spec.Image = withVolume(t, engine, spec, "/cache")
	sandbox := start(t, host, spec)
	bash(t, sandbox, "echo kept >/cache/file")
	find := func() []*volume.Volume {
		found, err := engine.VolumeList(t.Context(), volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", "relabel.trajectory="+spec.Labels.Trajectory))})
		if err != nil {
			t.Fatal(err)
		}
		return found.Volumes
	}
	if v := find(); len(v) != 1 || v[0].Labels["relabel.attempt"] != "3" {
		t.Errorf("volumes of the sandbox: %v", v)
	}
	if err := sandbox.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := find(); len(v) != 0 {
		t.Errorf("left behind: %v", v)
	}
}

// withVolume makes an image of the spec's that declares a volume.
func withVolume(t *testing.T, engine *client.Client, spec envs.Spec, path string) (image string) {
	t.Helper()
	made, err := engine.ContainerCreate(t.Context(), &container.Config{Image: spec.Image, Cmd: []string{"true"}, Volumes: map[string]struct{}{path: {}}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	image = "relabel/test-volume:" + spec.Labels.Trajectory
	commit(t, engine, made.ID, image)
	if err := engine.ContainerRemove(t.Context(), made.ID, container.RemoveOptions{RemoveVolumes: true}); err != nil {
		t.Fatal(err)
	}
	return image
}

// removal takes a container away whatever it does.
var removal = container.RemoveOptions{Force: true, RemoveVolumes: true}
