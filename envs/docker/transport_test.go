package docker_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// authority signs certificates in a folder as Docker wants them.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.cert, a.key, _ = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes a certificate, signed by the authority or, for its own, by itself.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key, der
}

// issue makes a certificate for either side of a connection to loopback.
func (a *authority) issue(name string) tls.Certificate {
	_, key, der := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// folder writes ca.pem, cert.pem and key.pem of a client.
func (a *authority) folder() string {
	a.t.Helper()
	dir, c := a.t.TempDir(), a.issue("client")
	key, err := x509.MarshalECPrivateKey(c.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		a.t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: a.cert.Raw}, "cert.pem": {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return dir
}

// join passes everything between two connections until both have ended.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // it ends with either
			if half, ok := way[0].(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
	a.Close()
	b.Close()
}

// forward listens and passes each connection on to the real engine.
func forward(t *testing.T, l net.Listener) {
	t.Helper()
	engine := engineOf(t)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				behind, err := engine.Dialer()(context.Background())
				if err != nil {
					conn.Close()
					return
				}
				join(conn, behind)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
}

// works runs a command with standard input and some output in a sandbox.
func works(t *testing.T, host *docker.Host) {
	t.Helper()
	if _, err := host.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	sandbox := start(t, host, newSpec(t))
	got, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", "cat; head -c 300000 /dev/zero | wc -c"}, Stdin: []byte("well\n")})
	if err != nil || string(got.Output) != "well\n300000\n" {
		t.Errorf("%q, %v", got.Output, err)
	}
	if sandbox.HostName() != host.Name() || strings.Contains(host.Name(), "?") {
		t.Errorf("it is recorded on %q", sandbox.HostName())
	}
}

func TestEngineBehindTLSIsSpokenToWithItsOwnCertificates(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{ours.issue("server")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool()})
	if err != nil {
		t.Fatal(err)
	}
	forward(t, l)
	address := "tcp://" + l.Addr().String()
	host := dockertest.NewHostWith(t, docker.Config{Address: address + "?slots=3&tls=" + ours.folder()})
	works(t, host)
	if host.Slots() != 3 || host.Name() != address {
		t.Errorf("%d slots, %q", host.Slots(), host.Name())
	}
	for what, query := range map[string]string{"no certificate": "", "certificates of another authority": "?tls=" + newAuthority(t).folder()} {
		host, err := docker.NewHost(docker.Config{Address: address + query, Instance: "test", Sandboxd: envstest.Sandboxd(t)})
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Ping(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
			t.Errorf("%s: %v", what, err)
		}
		host.Close()
	}
}

// fakeSSH puts an ssh on the PATH that checks how it is called and is this test binary,
// which does what `docker system dial-stdio` does.
func fakeSSH(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestEngineBehindSSHIsSpokenToThroughAFakeSSH(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fakeSSH(t, `case "$*" in *"-l me -p 2222 -- engine.example docker system dial-stdio") `+dialStdio+`=1 exec `+self+`;; esac
echo "unexpected: $*" >&2; exit 255`)
	host := dockertest.NewHostWith(t, docker.Config{Address: "ssh://me@engine.example:2222?slots=2"})
	works(t, host)
	if host.Slots() != 2 || host.Name() != "ssh://me@engine.example:2222" {
		t.Errorf("%d slots, %q", host.Slots(), host.Name())
	}
}

func TestTheMessageOfSSHIsPartOfTheError(t *testing.T) {
	fakeSSH(t, `echo "Permission denied (publickey)." >&2; exit 255`)
	host, err := docker.NewHost(docker.Config{Address: "ssh://engine.example", Instance: "test", Sandboxd: envstest.Sandboxd(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	if err := host.Ping(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable || !strings.Contains(err.Error(), "Permission denied (publickey)") {
		t.Errorf("got %v", err)
	}
}

func TestAddressesAreReadOrRefused(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///of/the/environment.sock")
	for text, want := range map[string]docker.Address{
		"":                                   {Name: "unix:///of/the/environment.sock"},
		"unix:///run/d.sock":                 {Name: "unix:///run/d.sock"},
		"unix:///run/d.sock?slots=8":         {Name: "unix:///run/d.sock", Slots: 8},
		"tcp://h:2376?tls=/etc/d&slots=1":    {Name: "tcp://h:2376", TLS: "/etc/d", Slots: 1},
		"ssh://me@h:22":                      {Name: "ssh://me@h:22"},
		"nonsense":                           {},
		"http://h:1":                         {},
		"tcp://h":                            {},
		"unix://relative":                    {},
		"unix:///run/d.sock?slots=0":         {},
		"unix:///run/d.sock?slots=many":      {},
		"unix:///run/d.sock?tls=/etc/d":      {},
		"unix:///run/d.sock?slot=3":          {},
		"ssh://me:secret@h":                  {},
		"ssh://me:secret@h?slot=3":           {},
		"tcp://me:secret@h:2376":             {},
		"tcp://secret@h:2376":                {},
		"ssh://h/var/run/docker.sock":        {},
		"tcp://h:2376?tls=/etc/d&slots=8&x=": {},
	} {
		got, err := docker.ParseAddress(text)
		if want.Name == "" {
			if relabel.CodeOf(err) != relabel.CodeInvalid || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %+v, %v", text, got, err)
			}
			continue
		}
		if err != nil || got.Name != want.Name || got.TLS != want.TLS || got.Slots != want.Slots {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
