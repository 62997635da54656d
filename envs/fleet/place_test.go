package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relabel"
	"relabel/envs"
	"relabel/envs/faketest"
	"relabel/envs/fleet"
)

const image = "image"

// quick is a configuration with short intervals.
func quick(members ...fleet.Member) fleet.Config {
	return fleet.Config{Members: members, LookEvery: 10 * time.Millisecond, Patience: 200 * time.Millisecond}
}

func create(t testing.TB, f *fleet.Fleet, name string) envs.Sandbox {
	t.Helper()
	sandbox, err := f.Create(t.Context(), envs.Spec{Name: name, Image: image, Workdir: "/testbed"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return sandbox
}

// await waits until the fleet is as asked for.
func await(t testing.TB, f *fleet.Fleet, what string, is func([]relabel.Engine) bool) {
	t.Helper()
	for !is(f.Health()) {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("timed out: " + what)
		}
	}
}

func wantEnvironment(t testing.TB, err error) {
	t.Helper()
	if relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("got %v, want code %s", err, relabel.CodeEnvironment)
	}
}

func TestSandboxesArePlacedInProportionToSlots(t *testing.T) {
	f := newFleet(t, quick(fleet.Member{Engine: newFake(t, "a", image), Slots: 1}, fleet.Member{Engine: newFake(t, "b", image), Slots: 3}))
	on := map[string]int{}
	for i := range 4 {
		on[create(t, f, fmt.Sprint("s", i)).HostName()]++
	}
	if want := map[string]int{"a": 1, "b": 3}; !maps.Equal(on, want) {
		t.Errorf("placed %v, want %v", on, want)
	}
}

func TestAnEngineWithTheImageIsPreferredAndOnlyOneEnginePulls(t *testing.T) {
	f := newFleet(t, quick(fleet.Member{Engine: newFake(t, "without"), Slots: 8}, fleet.Member{Engine: newFake(t, "with", image), Slots: 2}))
	if err := f.EnsureImage(t.Context(), image); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if on := create(t, f, fmt.Sprint("s", i)).HostName(); on != "with" {
			t.Errorf("placed on the engine %q", on)
		}
	}
}

func TestImagesAreSpreadOverEnginesInProportionToSlots(t *testing.T) {
	var names []string
	for i := range 400 {
		names = append(names, fmt.Sprint("image", i))
	}
	small, large := &noting{Host: newFake(t, "small", names...)}, &noting{Host: newFake(t, "large", names...)}
	f := newFleet(t, quick(fleet.Member{Engine: small, Slots: 1}, fleet.Member{Engine: large, Slots: 3}))
	for _, name := range names {
		if err := f.EnsureImage(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if small.ensured < 60 || small.ensured > 140 || small.ensured+large.ensured != 400 {
		t.Errorf("%d and %d images; a quarter of 400 is 100", small.ensured, large.ensured)
	}
}

// noting is an engine without images. It counts requested pulls.
type noting struct {
	*faketest.Host
	ensured int
}

func (n *noting) HasImage(context.Context, string) (bool, error) { return false, nil }

func (n *noting) EnsureImage(context.Context, string) error {
	n.ensured++
	return nil
}

func TestCreateWaitsForASlotUntilItsContextEnds(t *testing.T) {
	f := newFleet(t, quick(fleet.Member{Engine: newFake(t, "a", image), Slots: 1}))
	first := create(t, f, "first")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	waited := make(chan error, 1)
	go func() {
		_, err := f.Create(ctx, envs.Spec{Name: "second", Image: image, Workdir: "/testbed"})
		waited <- err
	}()
	cancel(enough)
	if err := <-waited; !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	next := make(chan envs.Sandbox)
	go func() { next <- create(t, f, "third") }()
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-next
}

func TestAnEngineThatIsDownIsSkippedUntilItAnswers(t *testing.T) {
	a, b := newFake(t, "a", image), newFake(t, "b", image)
	f := newFleet(t, quick(fleet.Member{Engine: a, Slots: 4}, fleet.Member{Engine: b, Slots: 1}))
	a.SetFaults(faketest.Faults{EngineDown: true})
	if on := create(t, f, "one").HostName(); on != "b" {
		t.Errorf("placed on %q", on)
	}
	await(t, f, "a is out", func(h []relabel.Engine) bool { return h[0].Problem != "" })
	if err := f.Room(t.Context()); err != nil {
		t.Errorf("no room although an engine works: %v", err)
	}
	if _, err := f.Reap(t.Context(), func(envs.Labels) bool { return true }); err != nil {
		t.Errorf("the other engine is to be reaped all the same: %v", err)
	}
	waiting := make(chan envs.Sandbox)
	go func() { waiting <- create(t, f, "two") }() // b is full
	a.SetFaults(faketest.Faults{})
	if on := (<-waiting).HostName(); on != "a" {
		t.Errorf("placed on %q", on)
	}
}

func TestWithoutAWorkingEngineCreateAndRoomFail(t *testing.T) {
	a := newFake(t, "a", image)
	f := newFleet(t, quick(fleet.Member{Engine: a, Slots: 1}))
	a.SetFaults(faketest.Faults{EngineDown: true})
	await(t, f, "a is out", func(h []relabel.Engine) bool { return h[0].Problem != "" })
	_, err := f.Create(t.Context(), envs.Spec{Name: "one", Image: image, Workdir: "/testbed"})
	wantEnvironment(t, err)
	wantEnvironment(t, f.EnsureImage(t.Context(), image))
	if err := f.Room(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("room: %v", err)
	}
	if got, err := fleet.New(t.Context(), quick(fleet.Member{Engine: a})); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("a fleet without an engine: %v, %v", got, err)
	}
}

func TestAnEngineThatAnswersButCreatesNothingIsPutOut(t *testing.T) {
	a, b := newFake(t, "a", image), newFake(t, "b", image)
	c := quick(fleet.Member{Engine: a, Slots: 9}, fleet.Member{Engine: b, Slots: 1})
	c.LookEvery = time.Hour // a check would put the engine in use again
	f := newFleet(t, c)
	a.SetFaults(faketest.Faults{Create: relabel.Errorf(relabel.CodeEnvironment, "no containers today").Because(envs.ErrEngine)})
	for i := range 3 {
		sandbox := create(t, f, fmt.Sprint("s", i))
		if on := sandbox.HostName(); on != "b" {
			t.Errorf("placed on %q", on)
		}
		if err := sandbox.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if h := f.Health()[0]; h.Problem != "no containers today" || h.Used != 0 {
		t.Errorf("%+v", h)
	}
}

func TestAFaultOfAnImagePutsNoEngineOut(t *testing.T) {
	a := newFake(t, "a", image)
	f := newFleet(t, quick(fleet.Member{Engine: a, Slots: 1}))
	a.SetFaults(faketest.Faults{Create: errors.New("there is no shell in it")})
	for range 5 {
		_, err := f.Create(t.Context(), envs.Spec{Name: "one", Image: image, Workdir: "/testbed"})
		wantEnvironment(t, err)
	}
	if h := f.Health()[0]; h.Problem != "" || h.Used != 0 {
		t.Errorf("%+v", h)
	}
}

func TestAFullEngineGetsNoSandboxesUntilItHasSpace(t *testing.T) {
	a := newFake(t, "a", image)
	f := newFleet(t, quick(fleet.Member{Engine: a, Slots: 1}))
	a.SetFaults(faketest.Faults{Full: "3 MiB are free"})
	await(t, f, "a is full", func(h []relabel.Engine) bool { return h[0].Problem == "3 MiB are free" })
	if err := f.Room(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("room: %v", err)
	}
	a.SetFaults(faketest.Faults{})
	await(t, f, "a has room", func([]relabel.Engine) bool { return f.Room(t.Context()) == nil })
	create(t, f, "one")
}

// However sandboxes come and go, none is lost and no engine has more than its slots.
func TestNoEngineEverHasMoreThanItsSlots(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(rt, "slots")
		c := quick()
		c.Patience = time.Minute
		engines := make([]*counting, len(slots))
		for i, n := range slots {
			engines[i] = &counting{name: fmt.Sprint(i), most: n}
			c.Members = append(c.Members, fleet.Member{Engine: engines[i], Slots: n})
		}
		f, err := fleet.New(t.Context(), c)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		var all sync.WaitGroup
		for i := range rapid.IntRange(1, 40).Draw(rt, "sandboxes") {
			all.Go(func() {
				s, err := f.Create(t.Context(), envs.Spec{Name: fmt.Sprint(i), Image: image, Workdir: "/"})
				if err == nil {
					err = s.Close(t.Context())
				}
				if err != nil && !errors.Is(err, envs.ErrEngine) { // one that failed on all engines may fail
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, h := range f.Health() {
			if h.Used != 0 || engines[i].tooMany || engines[i].there != 0 {
				rt.Errorf("engine %d: %+v, too many: %v", i, h, engines[i].tooMany)
			}
		}
	})
}

// counting is an engine that only counts its sandboxes. Every fifth creation fails.
type counting struct {
	envs.Engine
	name string
	most int

	mu      sync.Mutex
	calls   int
	there   int
	tooMany bool
}

func (c *counting) Name() string { return c.name }
func (c *counting) Close() error { return nil }
func (c *counting) Look(context.Context) (envs.Condition, error) {
	return envs.Condition{CPUs: 1}, nil
}
func (c *counting) HasImage(context.Context, string) (bool, error) { return true, nil }

func (c *counting) Create(context.Context, envs.Spec) (envs.Sandbox, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; c.calls%5 == 0 && c.there > 0 {
		return nil, relabel.Errorf(relabel.CodeEnvironment, "not now").Because(envs.ErrEngine)
	}
	c.there++
	c.tooMany = c.tooMany || c.there > c.most
	return counted{engine: c}, nil
}

type counted struct {
	envs.Sandbox
	engine *counting
}

func (c counted) Close(context.Context) error {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.engine.there--
	return nil
}
