package shard

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/outbound"
	"relabel/shard/buckettest"
)

func TestDestinationsAreOfKnownOptionsAndNamedServers(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AZURE_STORAGE_DOMAIN", "AZURE_STORAGE_PROTOCOL"} {
		t.Setenv(name, "")
	}
	d := Destinations{Endpoints: []string{"https://s3.example.org", "http://10.0.0.1:9000"}}
	for _, good := range []string{"s3://bucket/prefix?region=eu-west-1", "s3://bucket", "azblob://container/prefix?storage_account=abc123",
		"s3://b0/p?region=us-east-1&use_path_style=true&endpoint=https://s3.example.org", "s3://b0?endpoint=https://S3.example.org:443/", "azblob://cc?protocol=http&domain=10.0.0.1:9000"} {
		if _, err := d.parse(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, says := range map[string]string{
		"s3://bucket?profile=prod":                                  `the unknown option "profile"`,
		"s3://bucket?role=arn:aws:iam::1:role/x":                    `the unknown option "role"`,
		"s3://bucket?hostname_immutable=true":                       `the unknown option "hostname_immutable"`,
		"s3://bucket?disable_https=true":                            `the unknown option "disable_https"`,
		"s3://bucket?awssdk=v1":                                     `the unknown option "awssdk"`,
		"azblob://c0?cdn=true":                                      `the unknown option "cdn"`,
		"s3://bucket?endpoint=https://evil.example":                 "names the server https://evil.example",
		"s3://bucket?endpoint=https://s3.example.org.evil.example":  "names the server",
		"s3://bucket?endpoint=https://s3.example.org@evil.example":  "names the server",
		"s3://bucket?endpoint=http://s3.example.org":                "names the server",
		"s3://bucket?endpoint=https://s3.example.org/?x=":           "names the server",
		"s3://bucket?endpoint=https://s3.example.org?":              "names the server",
		"s3://bucket?endpoint=https://s3.example.org/%23":           "names the server",
		"azblob://cc?protocol=http&domain=10.0.0.1:9000?":           "names the server",
		"azblob://cc?protocol=http&domain=10.0.0.1:9000%23":         "names the server",
		"s3://bucket?endpoint=http://169.254.169.254":               "names the server",
		"s3://b0?endpoint=https://s3.example.org&endpoint=http://e": "twice",
		"azblob://cc?domain=evil.example":                           "names the server https://evil.example",
		"azblob://cc?protocol=http":                                 "names the server http://blob",
		"azblob://cc?storage_account=evil.example/":                 "storage_account",
		"s3://bucket?region=evil.example/%23":                       "region",
		"s3://evil.example%2f/":                                     "must be the URL",
		"s3://a@evil.example/":                                      "must not contain a key",
		"s3://bucket?use_path_style=maybe":                          "true or false",
		"file:///etc":                                               "must be the URL",
		"file://localhost/etc":                                      `the unsupported scheme "file"`,
		"mem://x":                                                   `the unsupported scheme "mem"`,
		"gs://bucket":                                               `the unsupported scheme "gs"`,
		"s3://bucket?request_checksum_calculation=never":            "when_supported or when_required",
		"s3://bucket/../other":                                      `prefix with empty, "." or ".." segments`,
	} {
		if _, err := d.parse(bad); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "https://minio.example")
	if _, err := (Destinations{}).parse("s3://bucket?endpoint=https://minio.example"); err != nil {
		t.Errorf("the environment's server: %v", err)
	}
	for _, endpoint := range []string{"", "s3.example.org", "ftp://x", "https://a:b@host", "https://host/path", "https://host?", "https://host#"} {
		if relabel.CodeOf(CheckEndpoint(endpoint)) != relabel.CodeInvalid {
			t.Errorf("%q is taken for a server", endpoint)
		}
	}
}

// dialled keeps what would have been dialled, and connects to nothing.
type dialled struct {
	mu        sync.Mutex
	addresses []string
}

func (d *dialled) transport() *http.Transport {
	return &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.addresses = append(d.addresses, address)
		return nil, relabel.Errorf(relabel.CodeAddressRefused, "169.254.169.254 is link-local")
	}}
}

func TestADestinationThatMayNotBeDialledFailsTheExport(t *testing.T) {
	for _, destination := range []string{"s3://shards/p?region=us-east-1", "azblob://shards/p?storage_account=abc"} {
		buckettest.UseKeys(t)
		t.Setenv("AZURE_STORAGE_ACCOUNT", "abc")
		t.Setenv("AZURE_STORAGE_KEY", "c2VjcmV0")
		s := bucketStore("one", destination)
		x := bucketExporter(t, s)
		counted := &dialled{}
		x.Destinations.Transport = counted.transport()
		_ = work(s, x, relabel.CutExport, 0)
		if len(s.reasons) != 1 || !strings.Contains(s.reasons[0], "169.254.169.254 is link-local") {
			t.Errorf("%s: failed for %q, waits for %q", destination, s.reasons, s.export.Waiting)
		}
		for _, host := range counted.addresses {
			if strings.HasPrefix(host, "169.254") {
				t.Errorf("%s: the metadata service is asked", destination)
			}
		}
	}
}

func TestNoKeysAreLookedForInACloud(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_EC2_METADATA_DISABLED", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_CLIENT_ID"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	for _, destination := range []string{"s3://shards/p?region=us-east-1", "azblob://shards/p?storage_account=abc"} {
		s := bucketStore("one", destination)
		x := bucketExporter(t, s)
		counted := &dialled{}
		x.Destinations.Transport = counted.transport()
		err := x.Step(context.Background(), relabel.ExportJob{ExportID: s.export.ID, Step: relabel.CutExport})
		if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "there are no keys") || len(counted.addresses) > 0 {
			t.Errorf("%s: %v, %v was asked", destination, err, counted.addresses)
		}
	}
}

func TestTheRuleHoldsForBuckets(t *testing.T) {
	buckettest.UseKeys(t)
	narrow, err := outbound.NewRule([]string{"10.0.0.0/8"})
	must(t, err)
	s := bucketStore("one", "s3://shards/p?region=us-east-1&use_path_style=true&endpoint=http://127.0.0.1:9")
	x := bucketExporter(t, s)
	x.Destinations.Transport = narrow.Transport()
	_ = work(s, x, relabel.CutExport, 0)
	if len(s.reasons) != 1 || !strings.Contains(s.reasons[0], "is not in a range of --allow-address") {
		t.Errorf("failed for %q, waits for %q", s.reasons, s.export.Waiting)
	}
}
