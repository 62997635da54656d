package buckettest

import (
	"os"
	"path/filepath"
	"testing"
)

// What an S3 server's owner has.
const (
	Key    = "relabel-test"
	Secret = "relabel-test-secret"
)

// S3 is a real S3 server.
type S3 struct {
	server
	Folder string // a folder in it is a bucket, a file an object
}

// StartS3 starts a server with the buckets given. It ends with the test.
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

// URL is the destination below a path of bucket and prefix.
func (s *S3) URL(path string) string {
	return "s3://" + path + "?region=us-east-1&use_path_style=true&endpoint=" + s.Endpoint()
}

// Endpoint is the address of the server, as an operator names it.
func (s *S3) Endpoint() string { return "http://" + s.address }

// Environ is the environment with the server's keys.
func Environ() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + Key, "AWS_SECRET_ACCESS_KEY=" + Secret, "AWS_EC2_METADATA_DISABLED=true"}
}

// UseKeys gives the test's own process the server's keys.
func UseKeys(t testing.TB) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", Secret)
	t.Setenv("AWS_SESSION_TOKEN", "")
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}
