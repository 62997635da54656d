package mixer

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

func TestTrajectoryGoesFromQueuedToDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("TsTs", 3)
		if err := b.roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []relabel.TrajectoryState{relabel.Queued, relabel.Running, relabel.Labelling, relabel.Verifying, relabel.Done}
		if got := b.store.history; len(got) != len(want) || got[4] != relabel.Done {
			t.Errorf("states %v, want %v", got, want)
		}
		if got := executed(b.turns()); got != "TsT" {
			t.Errorf("executed by %s", got)
		}
		if e := b.store.ending; e.Reason != relabel.EndFinish || !e.Submitted || string(e.Patch) != "diff" {
			t.Errorf("ending %+v", e)
		}
		if !b.store.verdict.Passed || b.store.sandbox != "host/container" {
			t.Errorf("verdict %+v, sandbox %s", b.store.verdict, b.store.sandbox)
		}
		if p := b.problems(); len(p) > 0 {
			t.Error(p)
		}
	})
}

// A teacher that is blocked until released holds up no turn, no end, no removal of the
// sandbox: nothing but the verifier.
func TestStudentTurnsWaitForTheStudentAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(strings.Repeat("s", 20), 100)
		answer := make(chan struct{})
		b.environment.teacher = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			<-answer
			return says(relabel.Teacher, req, "execute_bash"), nil
		}
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		synctest.Wait() // everything that can happen without the teacher has happened
		b.store.mu.Lock()
		if n, pending := len(b.store.turns[1]), b.store.pendingLabels(); n != 20 || pending != 20 || b.store.state != relabel.Labelling {
			t.Errorf("without the teacher: %s, %d turns committed, %d labels pending; want labelling, 20 and 20", b.store.state, n, pending)
		}
		b.store.mu.Unlock()
		b.environment.mu.Lock()
		if b.environment.closed != 1 {
			t.Errorf("without the teacher: %d sandboxes removed", b.environment.closed)
		}
		b.environment.mu.Unlock()
		if n := len(b.environment.callsOf(relabel.Teacher)); n != 20 {
			t.Errorf("%d labels are asked for at once, want 20", n)
		}
		close(answer)
		if err := <-done; err != nil || b.store.state != relabel.Done || b.store.pendingLabels() != 0 {
			t.Errorf("with the teacher: %v, %s, %d pending", err, b.store.state, b.store.pendingLabels())
		}
		if p := b.problems(); len(p) > 0 {
			t.Error(p)
		}
	})
}

func TestLabelsAreRaisedWhenTheirRolloutHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		answer, act := make(chan struct{}), make(chan struct{})
		asked := make(chan relabel.ChatRequest, 3)
		b.environment.teacher = func(_ context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			asked <- req
			<-answer
			return says(relabel.Teacher, req, "execute_bash"), nil
		}
		talk := b.environment.student
		b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			<-act
			return talk(ctx, req)
		}
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		synctest.Wait()
		first := <-asked
		if first.Urgency.Raised() {
			t.Error("a label is raised while its rollout goes on")
		}
		close(act)
		synctest.Wait()
		for _, req := range []relabel.ChatRequest{first, <-asked, <-asked} {
			if !req.Urgency.Raised() {
				t.Errorf("the label of turn %d is not raised when its rollout has ended", req.T)
			}
		}
		close(answer)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Twenty turns of 0.2 s and the last one's label of 2 s, by the bubble's clock.
func TestTwentyStudentTurnsTakeTheirTimeAndOneLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(strings.Repeat("s", 20), 100)
		b.environment.student = talks(relabel.Student, 100, 200*time.Millisecond)
		b.environment.teacher = talks(relabel.Teacher, 100, 2*time.Second)
		start := time.Now()
		if err := b.roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The last state is visited after 19 turns; its label comes 2 s later.
		if took := time.Since(start); took != 19*200*time.Millisecond+2*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestLabelThatIsThereInTimeCommitsWithItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.executeTime = time.Second
		b.environment.teacher = talks(relabel.Teacher, 9, time.Millisecond)
		if err := b.roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l := b.store.turns[1][0].Label; l.Status != relabel.Received || l.Message.Content != "<teacher label 1>" || l.Parse != relabel.ParsedOK {
			t.Errorf("committed with label %+v", l)
		}
	})
}

func TestTeacherTurnIsOneCallThatLabelsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("TTT", 3)
		b.environment.openPolicy = func(p relabel.Policy) error {
			if p.Name == string(relabel.Student) {
				return relabel.Errorf(relabel.CodeSecretMissing, "the student's secret is missing")
			}
			return nil
		}
		if err := b.roll(t.Context()); err != nil || b.store.state != relabel.Done {
			t.Fatal(err, b.store.state, b.store.detail)
		}
		calls := b.environment.callsOf(relabel.Teacher)
		if len(calls) != 3 || calls[0].req.Purpose != relabel.PurposeAct {
			t.Errorf("%d teacher calls", len(calls))
		}
		for _, turn := range b.turns() {
			if turn.Label.Message.Content != turn.Action.Message.Content || turn.Label.PolicyID != b.store.claim.Teacher.ID {
				t.Errorf("turn %d: label %+v, action %+v", turn.T, turn.Label, turn.Action)
			}
		}
	})
}

func TestEvaluationIsTheStudentAloneGreedyAndUnlabelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssss", 2)
		b.store.claim.Trajectory.Kind = relabel.Evaluate
		b.environment.openPolicy = func(p relabel.Policy) error {
			if p.Name == string(relabel.Teacher) {
				t.Error("the teacher is opened")
			}
			return nil
		}
		if err := b.roll(t.Context()); err != nil || b.store.state != relabel.Done {
			t.Fatal(err, b.store.state)
		}
		for _, c := range b.environment.calls {
			if s := c.req.Sampling; c.role != relabel.Student || s.Temperature != 0 || s.TopP != 1 {
				t.Errorf("%s is asked with %+v", c.role, s)
			}
		}
		for _, turn := range b.turns() {
			if turn.Label != nil {
				t.Errorf("turn %d has label %+v", turn.T, turn.Label)
			}
		}
		if b.store.verdict == nil {
			t.Error("no verdict")
		}
	})
}

func TestASampleIsTheStudentAloneAtItsOwnSampling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seeds := map[relabel.IterationKind]int64{}
		for _, kind := range []relabel.IterationKind{relabel.Sample, relabel.Collect} {
			for _, mode := range []relabel.LabelMode{relabel.LabelsInline, relabel.LabelsDeferred, relabel.LabelsBatch} {
				b := newBench("ssss", 2)
				b.store.claim.Trajectory.Kind, b.store.claim.Run.Labels = kind, mode
				b.environment.openPolicy = func(p relabel.Policy) error {
					if kind == relabel.Sample && p.Name == string(relabel.Teacher) {
						return relabel.Errorf(relabel.CodeSecretMissing, "the teacher's secret is missing")
					}
					return nil
				}
				err := b.roll(t.Context())
				calls := b.environment.callsOf(relabel.Student)
				seeds[kind] = *calls[0].req.Seed
				if kind == relabel.Collect {
					continue
				}
				if err != nil || b.store.state != relabel.Done || b.store.verdict == nil {
					t.Fatal(err, b.store.state, b.store.detail)
				}
				if teacher := b.environment.callsOf(relabel.Teacher); len(teacher) != 0 || !reflect.DeepEqual(calls[0].req.Sampling, relabel.PaperSampling) {
					t.Errorf("%s: %d teacher calls, sampled with %+v", mode, len(teacher), calls[0].req.Sampling)
				}
				for _, turn := range b.turns() {
					if turn.Label != nil {
						t.Errorf("turn %d has label %+v", turn.T, turn.Label)
					}
				}
			}
		}
		if seeds[relabel.Sample] == seeds[relabel.Collect] {
			t.Error("a sample repeats the draws of a collect iteration")
		}
	})
}

func TestCollectionSamplesAsThePolicySaysWithReproducibleSeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newBench("sTs", 3), newBench("sTs", 3)
		for _, b := range []*bench{first, second} {
			if err := b.roll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, role := range []relabel.Role{relabel.Teacher, relabel.Student} {
			a, b := bySeed(first.environment.callsOf(role)), bySeed(second.environment.callsOf(role))
			if len(a) == 0 || len(a) != len(b) {
				t.Fatalf("%s: %d and %d seeds", role, len(a), len(b))
			}
			for seed, text := range a {
				if b[seed] != text {
					t.Errorf("%s: seed %d is not drawn again", role, seed)
				}
			}
		}
		for _, c := range first.environment.calls {
			if !reflect.DeepEqual(c.req.Sampling, relabel.PaperSampling) {
				t.Errorf("%s samples with %+v", c.role, c.req.Sampling)
			}
		}
	})
}

func bySeed(calls []call) map[int64]string {
	of := map[int64]string{}
	for _, c := range calls {
		of[*c.req.Seed] = c.text
	}
	return of
}

func TestTrajectoryThatIsNotToBeHadIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.store.state = relabel.Cancelled
		if err := b.roll(t.Context()); relabel.CodeOf(err) != relabel.CodeNotFound {
			t.Errorf("error %v", err)
		}
		if b.environment.opened != 0 || b.store.writes != 0 {
			t.Errorf("%d sandboxes, %d writes", b.environment.opened, b.store.writes)
		}
	})
}

func TestATrajectoryThatIsNotVerifiedEndsWithoutTheVerifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTs", 2)
		b.store.claim.Trajectory.SkipVerify = true
		b.environment.verifyErr = relabel.Errorf(relabel.CodeEnvironment, "no engine")
		if err := b.roll(context.Background()); err != nil || b.store.state != relabel.Done {
			t.Fatalf("%s, %v", b.store.state, err)
		}
		if b.store.verdict != nil || b.store.ending.Reason != relabel.EndFinish || b.store.pendingLabels() != 0 {
			t.Errorf("verdict %+v, ending %+v, %d pending", b.store.verdict, b.store.ending, b.store.pendingLabels())
		}
		if p := b.problems(); len(p) > 0 {
			t.Error(p)
		}
	})
}
