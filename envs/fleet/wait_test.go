package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/fleet"
)

// moody is a counting engine that may be down, and may not answer requests for images.
type moody struct {
	counting
	down, mute bool
	asked      int
}

func (m *moody) Look(context.Context) (envs.Condition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return envs.Condition{}, relabel.Errorf(relabel.CodeUnavailable, "it is down").Because(envs.ErrEngine)
	}
	return envs.Condition{CPUs: 1}, nil
}

func (m *moody) HasImage(ctx context.Context, _ string) (bool, error) {
	m.mu.Lock()
	m.asked++
	mute := m.mute
	m.mu.Unlock()
	if mute {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return true, nil
}

func (m *moody) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// inFleet makes a fleet of engines with one slot each, in a separate synctest bubble.
func inFleet(t *testing.T, test func(t *testing.T, f *fleet.Fleet), engines ...*moody) {
	synctest.Test(t, func(t *testing.T) {
		c := fleet.Config{LookEvery: time.Second, Patience: time.Minute}
		for _, e := range engines {
			c.Members = append(c.Members, fleet.Member{Engine: e, Slots: 1})
		}
		f, err := fleet.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		test(t, f)
	})
}

func try(t *testing.T, f *fleet.Fleet, name string) (envs.Sandbox, error) {
	return f.Create(t.Context(), envs.Spec{Name: name, Image: image, Workdir: "/"})
}

// How long it waited for a slot before is not part of that patience.
func TestPatienceWithARestartingEngineExcludesTheWaitForASlot(t *testing.T) {
	e := &moody{counting: counting{name: "a", most: 1}}
	inFleet(t, func(t *testing.T, f *fleet.Fleet) {
		first, err := try(t, f, "first")
		if err != nil {
			t.Fatal(err)
		}
		second := make(chan error, 1)
		go func() {
			_, err := try(t, f, "second")
			second <- err
		}()
		time.Sleep(time.Hour)
		e.set(func() { e.down = true })
		time.Sleep(30 * time.Second)
		_ = first.Close(t.Context())
		e.set(func() { e.down = false })
		if err := <-second; err != nil {
			t.Errorf("the engine was down for half a minute of patience: %v", err)
		}
	}, e)
}

func TestAWaitForASlotChecksEachEngineOnceForTheImage(t *testing.T) {
	a, b := &moody{counting: counting{name: "a", most: 1}}, &moody{counting: counting{name: "b", most: 1}}
	inFleet(t, func(t *testing.T, f *fleet.Fleet) {
		var held []envs.Sandbox
		for _, name := range []string{"1", "2"} {
			s, err := try(t, f, name)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, s)
		}
		before := a.asked
		const waiting = 20
		made := make(chan error, waiting)
		for i := range waiting {
			go func() {
				s, err := try(t, f, string(rune('A'+i)))
				if err == nil {
					err = s.Close(t.Context())
				}
				made <- err
			}()
		}
		synctest.Wait()
		for _, s := range held {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for range waiting {
			if err := <-made; err != nil {
				t.Error(err)
			}
		}
		if n := a.asked - before; n != waiting {
			t.Errorf("%d sandboxes were waited for, and the engine was asked %d times", waiting, n)
		}
	}, a, b)
}

func TestAnEngineThatDoesNotListItsImagesDelaysNoOther(t *testing.T) {
	a, b := &moody{counting: counting{name: "a", most: 1}, mute: true}, &moody{counting: counting{name: "b", most: 1}}
	inFleet(t, func(t *testing.T, f *fleet.Fleet) {
		begun := time.Now()
		s, err := try(t, f, "one")
		if err != nil || s.(*fleet.Sandbox).Sandbox.(counted).engine.name != "b" {
			t.Fatalf("%v, %v", s, err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}, a, b)
}
