package docker_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"software.sslmate.com/src/go-pkcs12"

	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
)

// Programs of an image's build trust this machine's certificates: those that read PEM, and Java, which does not.
func TestCertificatesOfABuildAreForItsScriptOnly(t *testing.T) {
	t.Parallel()
	host, engine := dockertest.NewHost(t), engineOf(t)
	var certificates []byte
	for range 2 { // of the same name, as some authorities have them
		certificates = append(certificates, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: newAuthority(t).cert.Raw})...)
	}
	spec := newSpec(t)
	name := "relabel/test-certificates:" + spec.Labels.Trajectory
	var log bytes.Buffer
	err := host.MakeImage(t.Context(), docker.ImageSpec{
		Name: name, From: spec.Image, Workdir: "/", Certificates: certificates, Timeout: time.Minute, Log: &log,
		Environment: map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g"},
		Script:      `cmp "$SSL_CERT_FILE" "$PIP_CERT" && set -- $JAVA_TOOL_OPTIONS && echo "$1" && base64 -w0 "${2#*trustStore=}"`,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	t.Cleanup(func() {
		if _, err := engine.ImageRemove(context.Background(), name, image.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
	own, store, _ := strings.Cut(log.String(), "\n")
	decoded, err := base64.StdEncoding.DecodeString(store)
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	trusted, err := pkcs12.DecodeTrustStore(decoded, "changeit")
	if err != nil || len(trusted) != 2 || own != "-Xmx1g" {
		t.Errorf("Java trusts %d certificates, with the options %q: %v", len(trusted), own, err)
	}
	made, err := engine.ImageInspect(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if env := made.Config.Env; !slices.Contains(env, "JAVA_TOOL_OPTIONS=-Xmx1g") || strings.Contains(strings.Join(env, "\n"), "relabel-certificates") {
		t.Errorf("the image has the variables %q", env)
	}
	again := newSpec(t)
	again.Image = name
	if got, exit := bash(t, start(t, host, again), "ls /tmp | grep certificates"); exit == 0 {
		t.Errorf("the image has %s", got)
	}
}
