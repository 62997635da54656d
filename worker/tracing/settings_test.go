package tracing

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relabel"
)

// setenv sets variables given as NAME=VALUE; OTLP_… stands for OTEL_EXPORTER_OTLP_….
func setenv(t *testing.T, variables ...string) {
	t.Helper()
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		if rest, short := strings.CutPrefix(name, "OTLP_"); short {
			name = "OTEL_EXPORTER_OTLP_" + rest
		}
		t.Setenv(name, value)
	}
}

func TestTheAddressOfTheCollector(t *testing.T) {
	for want, variables := range map[string][]string{
		"http://localhost:4318/v1/traces": {"OTLP_PROTOCOL=grpc", "OTLP_TRACES_PROTOCOL=http/protobuf"},
		"http://c:4318/v1/traces":         {"OTLP_ENDPOINT=http://c:4318"},
		"https://c/api/otel/v1/traces":    {"OTLP_ENDPOINT= https://c/api/otel/ "},
		"https://d/spans?key=a":           {"OTLP_ENDPOINT=http://c", "OTLP_TRACES_ENDPOINT=https://d/spans?key=a"},
		"http://e/v1/traces":              {"OTLP_ENDPOINT=https://e", "OTLP_INSECURE=true"},
		"https://f/v1/traces":             {"OTLP_ENDPOINT=http://f", "OTLP_INSECURE=true", "OTLP_TRACES_INSECURE=False"},
	} {
		t.Run(want, func(t *testing.T) {
			setenv(t, variables...)
			if s, err := readSettings(); err != nil || s.url != want {
				t.Errorf("posts to %q: %v", s.url, err)
			}
		})
	}
}

func TestHeadersAreDecoded(t *testing.T) {
	setenv(t, "OTLP_HEADERS=x-lost=1", "OTLP_TRACES_HEADERS=authorization=Basic%20YTpi=, x-a = b%2Cc ,")
	s, err := readSettings()
	if want := map[string]string{"authorization": "Basic YTpi=", "x-a": "b,c"}; err != nil || !maps.Equal(s.headers, want) {
		t.Errorf("sends %v: %v", s.headers, err)
	}
}

func TestSettingsWithoutVariables(t *testing.T) {
	s, err := readSettings()
	if err != nil || s.timeout != 10*time.Second || s.interval != 5*time.Second || s.limits != (limits{-1, -1, -1}) || s.compressed || s.tls != nil || len(s.headers) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// The variable for traces or spans stands before the one for all signals.
func TestNumbersAndCompression(t *testing.T) {
	general := []string{"OTLP_TIMEOUT=1500", "OTLP_COMPRESSION=gzip", "OTEL_BSP_SCHEDULE_DELAY=200",
		"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=7", "OTEL_ATTRIBUTE_COUNT_LIMIT=8", "OTEL_SPAN_LINK_COUNT_LIMIT=0"}
	setenv(t, general...)
	s, err := readSettings()
	if err != nil || s.timeout != 1500*time.Millisecond || s.interval != 200*time.Millisecond || s.limits != (limits{7, 8, 0}) || !s.compressed {
		t.Errorf("%+v, %v", s, err)
	}
	setenv(t, "OTLP_TRACES_TIMEOUT=0", "OTLP_TRACES_COMPRESSION=none", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT=-1", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=1")
	s, err = readSettings()
	if err != nil || s.timeout != 0 || s.limits != (limits{-1, 1, 0}) || s.compressed {
		t.Errorf("%+v, %v", s, err)
	}
}

// What cannot be used is refused by the name of its variable, without its value where that may be a key.
func TestVariablesAreRefusedByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, variables := range [][]string{
		{"OTLP_ENDPOINT=collector-sk-live:4318"},
		{"OTLP_TRACES_ENDPOINT=http://sk-live%zz"},
		{"OTLP_ENDPOINT=unix:///sk-live"},
		{"OTLP_INSECURE=1"},
		{"OTLP_PROTOCOL=http/json"},
		{"OTLP_HEADERS=sk-live"},
		{"OTLP_TRACES_HEADERS=a=1,b=sk-live%z"},
		{"OTLP_HEADERS=a key=sk-live"},
		{"OTLP_HEADERS=a=sk-live%0A"},
		{"OTLP_TIMEOUT=10s"},
		{"OTLP_TRACES_TIMEOUT=-1"},
		{"OTLP_COMPRESSION=zstd"},
		{"OTEL_BSP_SCHEDULE_DELAY=0"},
		{"OTEL_BSP_SCHEDULE_DELAY=9300000000000"},
		{"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=many"},
		{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=-2"},
		{"OTLP_CERTIFICATE=" + file, "OTLP_ENDPOINT=https://c"},
		{"OTLP_TRACES_CERTIFICATE=/none", "OTLP_ENDPOINT=https://c"},
		{"OTLP_CERTIFICATE=" + file, "OTLP_ENDPOINT=http://c"},
		{"OTLP_CLIENT_CERTIFICATE=" + file, "OTLP_CLIENT_KEY=" + file, "OTLP_ENDPOINT=https://c"},
		{"OTLP_CLIENT_CERTIFICATE=" + file, "OTLP_CLIENT_KEY=" + file, "OTLP_ENDPOINT=http://c"},
		{"OTLP_CLIENT_KEY=", "OTLP_CLIENT_CERTIFICATE=" + file},
		{"OTLP_CLIENT_CERTIFICATE=", "OTLP_CLIENT_KEY=" + file},
		{"OTEL_RESOURCE_ATTRIBUTES=region"},
		{"OTEL_RESOURCE_ATTRIBUTES=share=50%"},
	} {
		t.Run(strings.Join(variables, " "), func(t *testing.T) {
			setenv(t, variables...)
			tracer, err := New(Config{Mode: Spans})
			name, _, _ := strings.Cut(strings.Replace(variables[0], "OTLP_", "OTEL_EXPORTER_OTLP_", 1), "=")
			var of *relabel.Error
			if tracer != nil || !errors.As(err, &of) || of.Code != relabel.CodeInvalid || of.Field != name {
				t.Fatalf("refused with %v", err)
			}
			if strings.Contains(err.Error(), "sk-live") {
				t.Errorf("the error has a value: %v", err)
			}
		})
	}
}

func TestVariablesDoNotMatterWithoutTraces(t *testing.T) {
	setenv(t, "OTLP_PROTOCOL=grpc", "OTLP_ENDPOINT=collector:4317", "OTLP_TIMEOUT=soon")
	if _, err := New(Config{Mode: Off}); err != nil {
		t.Error(err)
	}
}
