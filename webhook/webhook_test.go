package webhook

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/outbound"
	"relabel/store"
	"relabel/store/storetest"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The example of the Standard Webhooks libraries.
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	k, err := key(secret)
	must(t, err)
	got := signature(k, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for _, other := range []string{"", "plain", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!"} {
		if _, err := key(other); relabel.CodeOf(err) != relabel.CodeSecretMissing || other != "" && strings.Contains(err.Error(), strings.TrimPrefix(other, "whsec_")+"x") {
			t.Errorf("%q: %v", other, err)
		}
	}
}

// received is a request as the receiver saw it.
type received struct {
	header http.Header
	body   []byte
}

// receiver is a real HTTP server that answers in turn with the given statuses, the last
// one for ever.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	requests []received
	came     chan received
}

func listen(t *testing.T, statuses ...int) *receiver {
	r := &receiver{statuses: statuses, came: make(chan received, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		got := received{req.Header.Clone(), body}
		r.mu.Lock()
		r.requests = append(r.requests, got)
		status := r.statuses[min(len(r.requests), len(r.statuses))-1]
		r.mu.Unlock()
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "thank you for "+strconv.Itoa(status))
		r.came <- got
	}))
	t.Cleanup(r.Close)
	return r
}

// next waits for a request.
func (r *receiver) next(t *testing.T) received {
	t.Helper()
	select {
	case got := <-r.came:
		return got
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		return received{}
	}
}

// verify checks a request's signature as a receiver does.
func verify(t *testing.T, r received) {
	t.Helper()
	k, err := key(secret)
	must(t, err)
	seconds, err := strconv.ParseInt(r.header.Get("webhook-timestamp"), 10, 64)
	must(t, err)
	if age := time.Since(time.Unix(seconds, 0)); age < -time.Minute || age > 5*time.Minute {
		t.Errorf("it was sent %s ago", age)
	}
	want := signature(k, r.header.Get("webhook-id"), seconds, r.body)
	if !hmac.Equal([]byte(want), []byte(r.header.Get("webhook-signature"))) {
		t.Errorf("signature %s", r.header.Get("webhook-signature"))
	}
}

// work takes deliveries from the queue until the test ends, or until stop.
func work(t *testing.T, s *store.Store, name string) (stop func()) {
	t.Helper()
	return workBy(t, s, name, outbound.Rule{})
}

// workBy is work with a rule of addresses.
func workBy(t *testing.T, s *store.Store, name string, rule outbound.Rule) (stop func()) {
	t.Helper()
	pauses := make([]time.Duration, len(Pauses)) // none: tests do not wait
	workers := river.NewWorkers()
	river.AddWorker(workers, NewWorker(Config{Store: s, Pauses: pauses, Log: zerolog.Nop(), Version: "test", Transport: rule.Transport(),
		Secret: func(string) (string, error) { return secret, nil }}))
	client, err := river.NewClient(riverpgxv5.New(s.Pool()), &river.Config{Schema: s.Schema(), Workers: workers, ID: name, JobTimeout: -1,
		FetchPollInterval: 50 * time.Millisecond, FetchCooldown: 20 * time.Millisecond, Queues: map[string]river.QueueConfig{store.QueueWebhook: {MaxWorkers: 4}}})
	must(t, err)
	must(t, client.Start(context.Background()))
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
		defer cancel()
		must(t, client.StopAndCancel(ctx))
	})
	t.Cleanup(stop)
	return stop
}

// told is a finished iteration whose run has a webhook.
func told(t *testing.T, s *store.Store, url string) storetest.Seeded {
	t.Helper()
	d := storetest.SeedWith(t, s, 2, func(d *storetest.Seeded) { d.Run.Webhook = &relabel.Webhook{URL: url, Secret: "trainer"} })
	for _, j := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, j.ID, "worker"), 2, true)
	}
	return d
}

// becomes waits until the run's only delivery is in a state.
func becomes(t *testing.T, s *store.Store, run relabel.ID, state relabel.DeliveryState) relabel.Delivery {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		list, _, err := s.ListDeliveries(context.Background(), run, relabel.Page{})
		must(t, err)
		if len(list) == 1 && list[0].State == state {
			return list[0]
		}
		if time.Now().After(end) {
			t.Fatalf("it does not become %s: %+v", state, list)
		}
	}
}

func TestADeliveryIsRetriedTwice(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	must(t, s.SetSite(context.Background(), relabel.Site{URL: "https://relabel.example"}))
	r := listen(t, 500, 302, 204)
	d := told(t, s, r.URL+"/hook")
	work(t, s, "one")
	first := r.next(t)
	for range 2 {
		again := r.next(t)
		if again.header.Get("webhook-id") != first.header.Get("webhook-id") || string(again.body) != string(first.body) {
			t.Errorf("another try is another delivery: %s %s", again.header.Get("webhook-id"), again.body)
		}
		verify(t, again)
	}
	got := becomes(t, s, d.Run.ID, relabel.DeliveryDelivered)
	if got.Tries != 3 || *got.Status != 204 || got.ID.String() != first.header.Get("webhook-id") || got.EndedAt == nil || got.NextAt != nil {
		t.Errorf("%+v", got)
	}
	var body struct {
		Type      string
		Timestamp time.Time
		Data      struct {
			URL       string
			Run       struct{ ID relabel.ID }
			Iteration struct {
				ID     relabel.ID
				State  string
				Counts relabel.Progress
			}
		}
	}
	must(t, json.Unmarshal(first.body, &body))
	if c := body.Data.Iteration.Counts; body.Type != "iteration.done" || body.Data.URL != "https://relabel.example/v1/iterations/"+d.Iteration.ID.String() ||
		body.Data.Run.ID != d.Run.ID || body.Data.Iteration.ID != d.Iteration.ID || c.Trajectories[relabel.Done] != 2 || c.Turns != 4 || c.LabelsReceived != 4 || c.Resolved != 2 {
		t.Errorf("%s", first.body)
	}
	if len(r.requests) != 3 { // the redirect was not followed
		t.Errorf("%d requests", len(r.requests))
	}
}

// A worker dies in the middle of a delivery: another one brings it to its end.
func TestADeliverySurvivesItsWorker(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	r := listen(t, 200)
	d := told(t, s, r.URL)
	// As a worker leaves it that was killed in its first try.
	_, err := s.Pool().Exec(ctx, "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{killed}' WHERE kind = 'webhook'")
	must(t, err)
	work(t, s, "next")
	_, err = s.RecoverAbandoned(ctx, func(owner string) bool { return owner == "killed" })
	must(t, err)
	verify(t, r.next(t))
	becomes(t, s, d.Run.ID, relabel.DeliveryDelivered)
	// Its job was lost with a restored queue: it gets another.
	_, err = s.Pool().Exec(ctx, "WITH gone AS (DELETE FROM river_job WHERE kind = 'webhook') UPDATE webhook_deliveries SET state = 'pending', ended_at = NULL")
	must(t, err)
	_, err = s.RecoverAbandoned(ctx, nil)
	must(t, err)
	r.next(t)
	becomes(t, s, d.Run.ID, relabel.DeliveryDelivered)
}

func TestAReceiverThatIsGoneGetsNoMoreUntilResent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	r := listen(t, 410, 200)
	d := told(t, s, r.URL)
	work(t, s, "one")
	r.next(t)
	gone := becomes(t, s, d.Run.ID, relabel.DeliveryFailed)
	if gone.Tries != 1 || *gone.Status != 410 || gone.Answer != "thank you for 410" {
		t.Errorf("%+v", gone)
	}
	again, err := s.Redeliver(ctx, d.Run.ID, gone.ID)
	must(t, err)
	if r.next(t).header.Get("webhook-id") != gone.ID.String() || again.State != relabel.DeliveryPending {
		t.Errorf("%+v", again)
	}
	becomes(t, s, d.Run.ID, relabel.DeliveryDelivered)
	if _, err := s.Redeliver(ctx, relabel.NewID(), gone.ID); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("of another run: %v", err)
	}
}

// After the last failed try, the delivery fails with the reason.
func TestADeliveryToADeadAddressFailsAtTheEnd(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	d := told(t, s, nobody.URL)
	work(t, s, "one")
	got := becomes(t, s, d.Run.ID, relabel.DeliveryFailed)
	if got.Tries != len(Pauses)+1 || *got.Status != 0 || !strings.Contains(got.Answer, "refused") || strings.Contains(got.Answer, "whsec") {
		t.Errorf("%+v", got)
	}
}

// A delivery to an address that is not allowed fails at once with the reason.
func TestADeliveryToARefusedAddressFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	r := listen(t, 200)
	narrow, err := outbound.NewRule([]string{"10.0.0.0/8"})
	must(t, err)
	d := told(t, s, r.URL)
	workBy(t, s, "one", narrow)
	got := becomes(t, s, d.Run.ID, relabel.DeliveryFailed)
	if got.Tries != 1 || !strings.Contains(got.Answer, "is not in a range of --allow-address") || len(r.came) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestExportsPausesAndCancelledIterationsAreDelivered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	r := listen(t, 200)
	must(t, s.SetSite(ctx, relabel.Site{Webhook: &relabel.Webhook{URL: r.URL}})) // of all runs, not signed
	d := storetest.Seed(t, s, 1)
	work(t, s, "one")
	types := map[string]string{}
	take := func() {
		got := r.next(t)
		var body struct{ Type string }
		must(t, json.Unmarshal(got.body, &body))
		types[body.Type] = string(got.body)
		if got.header.Get("webhook-signature") != "" {
			t.Error("it is signed without a secret")
		}
	}
	_, err := s.PauseRun(ctx, d.Run.ID, relabel.PausedByUser, "a person knows")
	must(t, err)
	_, err = s.ResumeRun(ctx, d.Run.ID)
	must(t, err)
	_, err = s.PauseRun(ctx, d.Run.ID, relabel.PausedByBudget, "spent")
	must(t, err)
	take()
	_, err = s.CancelIteration(ctx, d.Iteration.ID)
	must(t, err)
	take()
	export := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}, FolderID: "f", Directory: "d"}
	must(t, s.CreateExport(ctx, export))
	must(t, s.FailExport(ctx, export.ID, "nothing to export"))
	take()
	for kind, part := range map[string]string{"run.paused": `"text" : "spent"`, "iteration.cancelled": d.Iteration.ID.String(), "export.failed": "nothing to export"} {
		if !strings.Contains(strings.ReplaceAll(types[kind], `":"`, `" : "`), part) {
			t.Errorf("%s: %q", kind, types[kind])
		}
	}
	if len(types) != 3 {
		t.Errorf("%v", types)
	}
}
