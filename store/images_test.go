package store_test

import (
	"slices"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

func TestPulledImagesAreListedByLastUseAnEngineEach(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := t.Context()
	for _, image := range []string{"a", "b", "c"} {
		must(t, s.NotePull(ctx, relabel.PulledImage{Engine: "one", Image: image, ID: "sha256:" + image, Bytes: 5}))
	}
	must(t, s.NotePull(ctx, relabel.PulledImage{Engine: "two", Image: "a", ID: "sha256:a"}))
	_, err := s.Pool().Exec(ctx, "UPDATE pulled_images SET used_at = used_at - interval '1 hour' WHERE engine = 'one'")
	must(t, err)
	must(t, s.NoteUse(ctx, "one", "a"))
	must(t, s.NoteUse(ctx, "one", "not pulled by us"))
	must(t, s.ForgetPull(ctx, "one", "b"))
	must(t, s.NotePull(ctx, relabel.PulledImage{Engine: "one", Image: "c", ID: "sha256:another", Bytes: 7}))
	list, err := s.ListPulled(ctx, "one")
	must(t, err)
	if len(list) != 2 || list[0].Image != "a" || list[1].Image != "c" || list[1].ID != "sha256:another" || list[1].Bytes != 7 || !list[1].UsedAt.After(list[0].UsedAt) {
		t.Errorf("got %+v", list)
	}
	if two, err := s.ListPulled(ctx, "two"); err != nil || len(two) != 1 {
		t.Errorf("the other engine's: %+v, %v", two, err)
	}
}

// seedImages stores a run whose trajectories need the images, one each.
func seedImages(t *testing.T, s *store.Store, name string, images ...string) storetest.Seeded {
	t.Helper()
	return storetest.SeedWith(t, s, len(images), func(d *storetest.Seeded) {
		d.Run.Name, d.Taskset.ID, d.Taskset.Name = name, relabel.NewID(), "images of "+name
		for i, image := range images {
			d.Tasks[i].ID, d.Tasks[i].TasksetID, d.Tasks[i].Image = relabel.NewID(), d.Taskset.ID, image
			d.Trajectories[i].TaskID = d.Tasks[i].ID
		}
		must(t, s.CreateTaskset(t.Context(), d.Taskset, relabel.TaskList(d.Tasks)))
		d.Run.TasksetID = d.Taskset.ID
	})
}

func TestNextImagesAreThoseOfWhatIsClaimedNext(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	first := seedImages(t, s, "first", "a", "b", "b", "c")
	urgent := seedImages(t, s, "urgent", "d", "a")
	storetest.SeedLocalise(t, s, 1) // has no image
	want := func(n int, images ...string) {
		t.Helper()
		got, err := s.NextImages(t.Context(), n)
		must(t, err)
		if !slices.Equal(got, images) {
			t.Errorf("the next %d need %v, want %v", n, got, images)
		}
	}
	want(2, "a", "b")
	set(t, s, urgent, 5, 0)
	want(9, "a", "d", "b", "c") // the urgent run needs a too, and another was queued for it before
	_, err := s.PauseRun(t.Context(), urgent.Run.ID, relabel.PausedByUser, "")
	must(t, err)
	want(9, "a", "b", "c")
	storetest.Claim(t, s, first.Trajectories[0].ID, "worker")
	want(9, "b", "c")
}
