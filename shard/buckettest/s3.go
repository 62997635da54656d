package buckettest

import (
	"os"
	"path/filepath"
	"testing"
)

// Keys of the S3 server.
const (
	Key    = "relabel-test"
	Secret = "relabel-test-secret"
)

// S3 is a real S3 server.
type S3 struct {
	server
	Folder string // a folder in it is a bucket, a file an object
}

// StartS3 starts a server with the given buckets. It stops with the test.
func StartS3(t testing.TB, buckets ...string) *S3 {
	t.Helper()
	path := program(t, "s3-server.sh")
	s := &S3{Folder: t.TempDir()}
	for _, name := range buckets {
		if err := os.Mkdir(filepath.Join(s.Folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.server = server{t: t, args: func(address string) []string {
		return []string{path, "--quiet", "--access", Key, "--secret", Secret, "--port", address, "posix", s.Folder}
	}}
	s.startSomewhere()
	return s
}

// URL returns the destination for a path of bucket and prefix.
func (s *S3) URL(path string) string {
	return "s3://" + path + "?region=us-east-1&use_path_style=true&endpoint=" + s.Endpoint()
}

// Endpoint returns the server's URL.
func (s *S3) Endpoint() string { return "http://" + s.address }

// Environ returns the variables with the server's keys.
func Environ() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + Key, "AWS_SECRET_ACCESS_KEY=" + Secret, "AWS_EC2_METADATA_DISABLED=true"}
}

// UseKeys sets the server's keys in the environment of the test.
func UseKeys(t testing.TB) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", Secret)
	t.Setenv("AWS_SESSION_TOKEN", "")
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}
