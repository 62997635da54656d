package docker

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"

	"relabel"
)

// keepAlive is the interval of TCP keep-alive probes.
const keepAlive = 15 * time.Second

// newClient makes an engine's client with its own dialer, so that the plain connections that become a
// container's stream use TLS and ssh too.
func newClient(a Address) (*client.Client, error) {
	dial, err := a.dialer()
	if err != nil {
		return nil, err
	}
	host := a.Name
	if a.url.Scheme == "ssh" {
		host = "tcp://" + a.url.Hostname() // only for the Host header
	}
	engine, err := client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{}, CheckRedirect: client.CheckRedirect}), client.WithHost(host),
		client.WithVersionFromEnv(), client.WithAPIVersionNegotiation(), client.WithDialContext(noted(dial)))
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no Docker client for %q", a.Name).Because(err)
	}
	return engine, nil
}

// dialFunc connects to one engine.
type dialFunc func(ctx context.Context) (net.Conn, error)

func (a Address) dialer() (dialFunc, error) {
	plain := &net.Dialer{KeepAlive: keepAlive}
	switch {
	case a.url.Scheme == "unix":
		return func(ctx context.Context) (net.Conn, error) { return plain.DialContext(ctx, "unix", a.url.Path) }, nil
	case a.url.Scheme == "ssh":
		return func(ctx context.Context) (net.Conn, error) { return dialSSH(ctx, a.url) }, nil
	case a.TLS == "":
		return func(ctx context.Context) (net.Conn, error) { return plain.DialContext(ctx, "tcp", a.url.Host) }, nil
	}
	config, err := tlsconfig.Client(tlsconfig.Options{
		CAFile: filepath.Join(a.TLS, "ca.pem"), CertFile: filepath.Join(a.TLS, "cert.pem"), KeyFile: filepath.Join(a.TLS, "key.pem"),
		ExclusiveRootPools: true, InsecureSkipVerify: a.anyServer,
	})
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s needs ca.pem, cert.pem and key.pem in %s", a.Name, a.TLS).Because(err)
	}
	over := &tls.Dialer{NetDialer: plain, Config: config}
	return func(ctx context.Context) (net.Conn, error) { return over.DialContext(ctx, "tcp", a.url.Host) }, nil
}

// dialled records the connection of a call so that it can be closed: the engine's client ignores the
// context while it waits for the answer to an attach.
type dialled struct {
	mu     sync.Mutex
	conn   net.Conn
	closed bool
}

type dialledKey struct{}

// noted records connections in the dialled of their context, if there is one.
func noted(dial dialFunc) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := dial(ctx)
		if d, ok := ctx.Value(dialledKey{}).(*dialled); ok && err == nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.conn = conn; d.closed {
				conn.Close()
			}
		}
		return conn, err
	}
}

// close closes the current or future connection.
func (d *dialled) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.conn != nil {
		d.conn.Close()
	}
}
