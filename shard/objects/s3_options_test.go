package objects

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel/shard/buckettest"
)

// sentS3 writes an object with options and variables, and returns the requests that a server of any name gets.
func sentS3(t *testing.T, bucket, options string, environ map[string]string, size int64) []*http.Request {
	t.Helper()
	clean(t)
	buckettest.UseKeys(t)
	for name, value := range environ {
		t.Setenv(name, value)
	}
	query, err := url.ParseQuery(options)
	must(t, err)
	server := record(t, true, joined(0))
	s, err := OpenS3(Place{Bucket: bucket, Options: query, Transport: server.transport()})
	must(t, err)
	must(t, s.Put(t.Context(), "a b", bytes.NewReader(bytesOf(int(size))), size))
	return server.all()
}

func TestEachOptionOfS3ChangesWhereRequestsAreSent(t *testing.T) {
	for _, c := range []struct {
		bucket, options string
		environ         map[string]string
		want            string // host and path
	}{
		{"b-1", "region=eu-west-1", nil, "b-1.s3.eu-west-1.amazonaws.com/a%20b"},
		{"b-1", "", map[string]string{"AWS_REGION": "eu-west-2"}, "b-1.s3.eu-west-2.amazonaws.com/a%20b"},
		{"b-1", "", map[string]string{"AWS_DEFAULT_REGION": "eu-west-3"}, "b-1.s3.eu-west-3.amazonaws.com/a%20b"},
		{"b-1", "region=cn-north-1", nil, "b-1.s3.cn-north-1.amazonaws.com.cn/a%20b"},
		{"b.1", "region=eu-west-1", nil, "s3.eu-west-1.amazonaws.com/b.1/a%20b"},
		{"b-1", "region=eu-west-1&use_path_style=true", nil, "s3.eu-west-1.amazonaws.com/b-1/a%20b"},
		{"b-1", "region=eu-west-1&s3ForcePathStyle=true", nil, "s3.eu-west-1.amazonaws.com/b-1/a%20b"},
		{"b-1", "region=eu-west-1&fips=true", nil, "b-1.s3-fips.eu-west-1.amazonaws.com/a%20b"},
		{"b-1", "region=eu-west-1", map[string]string{"AWS_USE_FIPS_ENDPOINT": "true"}, "b-1.s3-fips.eu-west-1.amazonaws.com/a%20b"},
		{"b-1", "region=eu-west-1", map[string]string{"AWS_USE_FIPS_ENDPOINT": "True"}, "b-1.s3-fips.eu-west-1.amazonaws.com/a%20b"},
		{"b-1", "region=eu-west-1&fips=false", map[string]string{"AWS_USE_FIPS_ENDPOINT": "true"}, "b-1.s3.eu-west-1.amazonaws.com/a%20b"},
		{"b-1", "region=eu-west-1&dualstack=true", nil, "b-1.s3.dualstack.eu-west-1.amazonaws.com/a%20b"},
		{"b-1", "region=eu-west-1&accelerate=true", nil, "b-1.s3-accelerate.amazonaws.com/a%20b"},
		{"b-1", "region=eu-west-1&accelerate=true&dualstack=true", nil, "b-1.s3-accelerate.dualstack.amazonaws.com/a%20b"},
		{"b-1", "region=auto&endpoint=https://s3.example.org", nil, "b-1.s3.example.org/a%20b"},
		{"b-1", "region=auto&endpoint=https://s3.example.org:9000&use_path_style=true", nil, "s3.example.org:9000/b-1/a%20b"},
		{"b-1", "region=auto&endpoint=https://10.0.0.1", nil, "10.0.0.1/b-1/a%20b"},
		{"b-1", "region=auto", map[string]string{"AWS_ENDPOINT_URL": "https://e.example"}, "b-1.e.example/a%20b"},
		{"b-1", "region=auto", map[string]string{"AWS_ENDPOINT_URL": "https://e.example", "AWS_ENDPOINT_URL_S3": "https://f.example/base/"}, "b-1.f.example/base/a%20b"},
		{"b-1", "region=auto", map[string]string{"AWS_ENDPOINT_URL": "https://e.example", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, "b-1.s3.auto.amazonaws.com/a%20b"},
	} {
		q := sentS3(t, c.bucket, c.options, c.environ, 1)[0]
		if got := q.Host + q.URL.EscapedPath(); got != c.want {
			t.Errorf("%s with %s, %v: %s, want %s", c.bucket, c.options, c.environ, got, c.want)
		}
		region, _ := url.ParseQuery(c.options)
		if signed := q.Header.Get("Authorization"); region.Has("region") && !strings.Contains(signed, "/"+region.Get("region")+"/s3/aws4_request, SignedHeaders=content-type;host;x-amz") {
			t.Errorf("%s: signed as %s", c.options, signed)
		}
	}
}

func TestEachOptionOfS3ChangesTheHeadersOfAnUpload(t *testing.T) {
	const sum, parts, kind, key = "X-Amz-Checksum-Crc32", "X-Amz-Checksum-Algorithm", "X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"
	for _, c := range []struct {
		options         string
		environ         map[string]string
		checked         bool
		wantKind, wants string
	}{
		{"", nil, true, "", ""},
		{"ssetype=aws:kms&kmskeyid=k1", nil, true, "aws:kms", "k1"},
		{"request_checksum_calculation=when_required", nil, false, "", ""},
		{"", map[string]string{"AWS_REQUEST_CHECKSUM_CALCULATION": "WHEN_REQUIRED"}, false, "", ""},
		{"request_checksum_calculation=when_supported", map[string]string{"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required"}, true, "", ""},
	} {
		whole := sentS3(t, "b-1", "region=eu-west-1&"+c.options, c.environ, 5)[0]
		inParts := sentS3(t, "b-1", "region=eu-west-1&"+c.options, c.environ, partSize+5)
		for _, q := range []*http.Request{whole, inParts[0]} {
			if q.Header.Get(kind) != c.wantKind || q.Header.Get(key) != c.wants || q.Header.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("%s: created with %v", c.options, q.Header)
			}
		}
		if (whole.Header.Get(sum) == "UVrTzA==") != c.checked || (inParts[0].Header.Get(parts) == "CRC32") != c.checked || (inParts[1].Header.Get(sum) != "") != c.checked {
			t.Errorf("%s, %v: checksums %v, %v, %v", c.options, c.environ, whole.Header, inParts[0].Header, inParts[1].Header)
		}
		list, err := io.ReadAll(inParts[3].Body)
		must(t, err)
		if !strings.Contains(string(list), "<PartNumber>2</PartNumber><ETag>&#34;part2&#34;</ETag>") || strings.Contains(string(list), "ChecksumCRC32") != c.checked {
			t.Errorf("%s: completed with %s", c.options, list)
		}
	}
}

func TestTheChecksumOfAFileIsAskedForUnlessItIsOff(t *testing.T) {
	for option, want := range map[string]string{"": "ENABLED", "&response_checksum_validation=when_required": ""} {
		clean(t)
		buckettest.UseKeys(t)
		server := record(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })
		query, err := url.ParseQuery("region=r&endpoint=" + server.URL + option)
		must(t, err)
		s, err := OpenS3(Place{Bucket: "shards", Options: query})
		must(t, err)
		f, err := s.Open(t.Context(), "x")
		must(t, err)
		read(t, f)
		if got := server.all()[0].Header.Get("X-Amz-Checksum-Mode"); got != want {
			t.Errorf("%s: %q", option, got)
		}
	}
}

func TestSettingsOfS3ThatCannotBeUsedAreNamed(t *testing.T) {
	for _, c := range []struct {
		bucket, options string
		environ         map[string]string
		says            string
	}{
		{"b-1", "", nil, "AWS_REGION"},
		{"b-1", "region=r&fips=true&endpoint=https://s3.example.org", nil, "fips is for AWS's own servers"},
		{"b-1", "region=r&dualstack=true&endpoint=https://s3.example.org", nil, "dualstack is for AWS's own servers"},
		{"b-1", "region=r&accelerate=true&endpoint=https://s3.example.org", nil, "accelerate is for AWS's own servers"},
		{"b.1", "region=r&accelerate=true", nil, "accelerate cannot be used with"},
		{"b-1--use1-az4--x-s3", "region=r", nil, "directory buckets"},
		{"b-1", "region=r", map[string]string{"AWS_ENDPOINT_URL_S3": "s3.example.org"}, "endpoint in the environment is not a URL"},
		{"b-1", "region=r", map[string]string{"AWS_USE_FIPS_ENDPOINT": "yes"}, `AWS_USE_FIPS_ENDPOINT, or use_fips_endpoint of the profile default, is "yes": it must be true or false`},
		{"b-1", "region=r", map[string]string{"AWS_RESPONSE_CHECKSUM_VALIDATION": "never"}, "it must be when_required or when_supported"},
		{"b-1", "region=r", map[string]string{"AWS_CA_BUNDLE": "/nowhere/ca.pem"}, "AWS_CA_BUNDLE names a file that cannot be read"},
		{"b-1", "region=r", map[string]string{"AWS_PROFILE": "prod"}, "AWS_PROFILE names the profile prod"},
		{"b-1", "region=r", map[string]string{"AWS_SECRET_ACCESS_KEY": ""}, "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
	} {
		clean(t)
		buckettest.UseKeys(t)
		for name, value := range c.environ {
			t.Setenv(name, value)
		}
		query, err := url.ParseQuery(c.options)
		must(t, err)
		var setting SettingError
		if _, err := OpenS3(Place{Bucket: c.bucket, Options: query}); !errors.As(err, &setting) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s with %s, %v: %v", c.bucket, c.options, c.environ, err)
		}
	}
}

func TestOnlyTheCertificatesOfTheBundleAreTrusted(t *testing.T) {
	clean(t)
	buckettest.UseKeys(t)
	server := record(t, true, nil)
	options := url.Values{"region": {"r"}, "endpoint": {server.URL}}
	s, err := OpenS3(Place{Bucket: "shards", Options: options})
	must(t, err)
	if err := s.Delete(t.Context(), "x"); err == nil {
		t.Error("an unknown certificate is trusted")
	}
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("AWS_CA_BUNDLE", bundle)
	for _, transport := range []*http.Transport{nil, {}} {
		s, err = OpenS3(Place{Bucket: "shards", Options: options, Transport: transport})
		must(t, err)
		must(t, s.Delete(t.Context(), "x"))
	}
	must(t, os.WriteFile(bundle, []byte("none"), 0o600))
	if _, err := OpenS3(Place{Bucket: "shards", Options: options}); err == nil || !strings.Contains(err.Error(), "without certificates") {
		t.Errorf("a bundle without certificates: %v", err)
	}
}
