package tracing

import (
	"crypto/tls"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"relabel"
)

// settings are what the environment says of spans and their collector.
type settings struct {
	url        string
	headers    map[string]string
	timeout    time.Duration // of a try; 0: only that of the batch
	compressed bool
	tls        *tls.Config   // nil: the system's certificates
	interval   time.Duration // after which also a batch that is not full is sent
	limits     limits
}

// readSettings returns CodeInvalid with the name of a variable that cannot be used.
func readSettings() (s settings, err error) {
	if err := checkProtocol(); err != nil {
		return s, err
	}
	to, err := readEndpoint()
	if err != nil {
		return s, err
	}
	s.url = to.String()
	if s.headers, err = readHeaders(); err != nil {
		return s, err
	}
	if s.compressed, err = readCompression(); err != nil {
		return s, err
	}
	if s.tls, err = readCertificates(to.Scheme); err != nil {
		return s, err
	}
	return s, s.readNumbers()
}

func (s *settings) readNumbers() error {
	timeout, interval := 10_000, 5_000 // milliseconds
	s.limits = limits{value: -1, attributes: -1, links: -1}
	for _, n := range []struct {
		to    *int
		least int
		names []string
	}{
		{&timeout, 0, ofExporter("TIMEOUT")},
		{&interval, 1, []string{"OTEL_BSP_SCHEDULE_DELAY"}},
		{(*int)(&s.limits.value), -1, []string{"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"}},
		{(*int)(&s.limits.attributes), -1, []string{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"}},
		{(*int)(&s.limits.links), -1, []string{"OTEL_SPAN_LINK_COUNT_LIMIT"}},
	} {
		if err := readNumber(n.to, n.least, n.names); err != nil {
			return err
		}
	}
	s.timeout = time.Duration(timeout) * time.Millisecond
	s.interval = time.Duration(interval) * time.Millisecond
	return nil
}

// mostNumber bounds numbers, so that as many milliseconds are a time.Duration.
const mostNumber = math.MaxInt32

// readNumber sets a number if a variable does.
func readNumber(to *int, least int, names []string) error {
	name, value := first(names)
	if value == "" {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > mostNumber {
		return invalid(name, "is %q, not a whole number from %d to %d", value, least, mostNumber)
	}
	*to = n
	return nil
}

// checkProtocol refuses another protocol than http/protobuf.
func checkProtocol() error {
	if name, v := first(ofExporter("PROTOCOL")); v != "" && v != "http/protobuf" {
		return invalid(name, "is %q: relabel sends spans by http/protobuf only; unset it, and give the collector's HTTP port (4318)", v)
	}
	return nil
}

// readEndpoint returns the address that spans are posted to.
func readEndpoint() (*url.URL, error) {
	names := ofExporter("ENDPOINT")
	name, value := first(names)
	if value == "" {
		value = "http://localhost:4318"
	}
	to, err := url.Parse(value)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, invalid(name, "is not the address of a collector, such as http://collector:4318") // it may have a key
	}
	if name != names[0] {
		to = to.JoinPath("v1", "traces")
	}
	switch name, value := first(ofExporter("INSECURE")); strings.ToLower(value) {
	case "":
	case "true":
		to.Scheme = "http"
	case "false":
		to.Scheme = "https"
	default:
		return nil, invalid(name, "is %q, neither true nor false", value)
	}
	return to, nil
}

// headerCharacters are those of the names of headers beside letters and digits.
const headerCharacters = "!#$%&'*+-.^_`|~"

func readHeaders() (map[string]string, error) {
	name, value := first(ofExporter("HEADERS"))
	headers, err := readPairs(name, value)
	for header, text := range headers {
		foreign := func(r rune) bool {
			return r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(headerCharacters, r)
		}
		if strings.ContainsFunc(header, foreign) || strings.ContainsFunc(text, unicode.IsControl) {
			return nil, invalid(name, "has %q, which is no header of HTTP", header)
		}
	}
	return headers, err
}

func readCompression() (bool, error) {
	switch name, value := first(ofExporter("COMPRESSION")); value {
	case "gzip":
		return true, nil
	case "", "none":
		return false, nil
	default:
		return false, invalid(name, "is %q, neither gzip nor none", value)
	}
}

// readPairs reads NAME=VALUE, separated by commas, with percent-encoding in values. The last value of a name counts.
func readPairs(name, list string) (map[string]string, error) {
	pairs := map[string]string{}
	for i, pair := range strings.Split(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || key == "" || err != nil {
			return nil, invalid(name, "is not a list of NAME=VALUE with commas between and %%XX for other characters: see part %d", i+1)
		}
		pairs[key] = value
	}
	return pairs, nil
}

// ofExporter are the variables of a setting of the exporter, the one for traces before the one for all signals.
func ofExporter(setting string) []string {
	return []string{"OTEL_EXPORTER_OTLP_TRACES_" + setting, "OTEL_EXPORTER_OTLP_" + setting}
}

// first returns the first variable with a value, or the last one without.
func first(names []string) (name, value string) {
	for _, name = range names {
		if value = strings.TrimSpace(os.Getenv(name)); value != "" {
			break
		}
	}
	return name, value
}

// invalid is the error of a variable.
func invalid(name, format string, args ...any) *relabel.Error {
	return relabel.Errorf(relabel.CodeInvalid, format, args...).On(name)
}
