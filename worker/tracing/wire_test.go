package tracing_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/worker/tracing"
)

func TestTheEnvironmentNamesTheProcess(t *testing.T) {
	r := newReceiver(t, nil)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,service.instance.id=mine,team=a%2Cb")
	rollOne(t, newTracer(t, tracing.Spans))
	for key, want := range map[string]string{"service.name": "other", "service.instance.id": "mine", "team": "a,b", "service.version": "1.2", "telemetry.sdk.language": "go"} {
		if r.resource[key] != want {
			t.Errorf("%s is %q, not %q", key, r.resource[key], want)
		}
	}
	if r.scope != "relabel 1.2 of https://opentelemetry.io/schemas/1.41.0" {
		t.Errorf("the scope is %s", r.scope)
	}
	t.Setenv("OTEL_SERVICE_NAME", "lab")
	rollOne(t, newTracer(t, tracing.Spans))
	if r.resource["service.name"] != "lab" {
		t.Errorf("the service is %q", r.resource["service.name"])
	}
}

func TestSpansAreCompressedIfAskedFor(t *testing.T) {
	r := newReceiver(t, nil)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	rollOne(t, newTracer(t, tracing.Spans))
	if len(r.spans) != 7 || r.headers.Get("Content-Encoding") != "gzip" || r.headers.Get("User-Agent") != "relabel/1.2" {
		t.Errorf("%d spans came with %v", len(r.spans), r.headers)
	}
}

func TestLimitsOfTheEnvironmentCutSpans(t *testing.T) {
	r := newReceiver(t, nil)
	t.Setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "6")
	t.Setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3")
	t.Setenv("OTEL_SPAN_LINK_COUNT_LIMIT", "0")
	tracer := newTracer(t, tracing.Spans)
	foreign := claim
	foreign.Run.Scaffold = "öpenhands"
	tracer.Attempt(tracing.Attempt{Claim: foreign, StartedAt: begun})
	tracer.Close()
	root := r.only(t, "invoke_agent öpenhands")
	wantAttributes(t, root, map[string]string{"gen_ai.agent.name": "öpenha", "gen_ai.operation.name": "invoke"})
	if len(root.Attributes) != 3 || root.DroppedAttributesCount < 10 || len(root.Links) != 0 || root.DroppedLinksCount != 1 {
		t.Errorf("the span is %s", root)
	}
}

// Spans that a collector rejects in a success have failed; a warning is logged and loses nothing.
func TestSpansThatAreRejectedAreCounted(t *testing.T) {
	for answer, want := range map[string]tracing.Counts{
		"\x0a\x0b\x08\x03\x12\x07too old": {Sent: 4, Failed: 3},
		"\x0a\x09\x12\x07too old":         {Sent: 7},
	} {
		newReceiver(t, func(r *receiver) { r.answer = answer })
		var logged bytes.Buffer
		tracer, err := tracing.New(tracing.Config{Mode: tracing.Spans, Log: zerolog.New(&logged)})
		if err != nil {
			t.Fatal(err)
		}
		rollOne(t, tracer)
		if c := tracer.Counts(); c != want || !strings.Contains(logged.String(), "too old") || strings.Contains(logged.String(), "rollouts continue") != (want.Failed > 0) {
			t.Errorf("%q: counted %+v, logged %s", answer, c, logged.String())
		}
	}
}

// Headers may have a key: another host never gets them.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	from := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer from.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", from.URL)
	tracer := newTracer(t, tracing.Spans)
	rollOne(t, tracer)
	if c := tracer.Counts(); c != (tracing.Counts{Failed: 7}) {
		t.Errorf("counted %+v", c)
	}
}

// A collector with TLS is known by the certificates of the environment, and knows this process by its own.
func TestCertificatesOfTheEnvironment(t *testing.T) {
	r := newReceiver(t, nil)
	secure := httptest.NewUnstartedServer(r.Config.Handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of refused handshakes
	own, files := newCertificate(t)
	secure.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: own}
	secure.StartTLS()
	defer secure.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", secure.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", writePEM(t, "CERTIFICATE", secure.Certificate().Raw))
	stranger := newTracer(t, tracing.Spans)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", files[0])
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", files[1])
	known := newTracer(t, tracing.Spans)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", files[0])
	doubtful := newTracer(t, tracing.Spans)
	for tracer, want := range map[*tracing.Tracer]tracing.Counts{known: {Sent: 1}, stranger: {Failed: 1}, doubtful: {Failed: 1}} {
		tracer.Started(claim, begun, nil)
		tracer.Close()
		if c := tracer.Counts(); c != want {
			t.Errorf("counted %+v, want %+v", c, want)
		}
	}
}

// newCertificate returns the files of a certificate and its key, and a pool with the certificate.
func newCertificate(t *testing.T) (*x509.CertPool, [2]string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plain := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, plain, plain, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool, [2]string{writePEM(t, "CERTIFICATE", der), writePEM(t, "PRIVATE KEY", private)}
}

// writePEM returns a new file.
func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Texts of other programs are not always UTF-8: one of them must not cost a batch.
func TestTextsThatAreNotUTF8AreSent(t *testing.T) {
	r := newReceiver(t, nil)
	tracer := newTracer(t, tracing.Spans)
	tracer.Turn(claim, relabel.Turn{T: 1, Executor: relabel.Student, StartedAt: begun, EndedAt: begun,
		Observations: []relabel.Observation{{CallID: "call_1_0", Tool: "ba\xffsh"}}})
	tracer.Close()
	wantAttributes(t, r.only(t, "execute_tool ba\uFFFDsh"), map[string]string{"gen_ai.tool.name": "ba\uFFFDsh"})
}
