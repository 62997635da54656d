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

// keepAlive is between the kernel's questions whether a silent engine's machine is there.
const keepAlive = 15 * time.Second

// newClient makes an engine's client over a dialer of our own, which brings TLS and ssh
// to the client's plain connections too, those that become a container's stream.
func newClient(a Address) (*client.Client, error) {
	dial, err := a.dialer()
	if err != nil {
		return nil, err
	}
	host := a.Name
	if a.url.Scheme == "ssh" {
		host = "tcp://" + a.url.Hostname() // for the Host header alone
	}
	engine, err := client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{}, CheckRedirect: client.CheckRedirect}), client.WithHost(host),
		client.WithVersionFromEnv(), client.WithAPIVersionNegotiation(), client.WithDialContext(noted(dial)))
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no Docker client for %q", a.Name).Because(err)
	}
	return engine, nil
}

// dialFunc connects to the one engine that it was made for.
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

// dialled keeps the connection that a call made, for one who must be able to close it: the
// engine's client does not look at a context while it waits for the answer to an attach.
type dialled struct {
	mu     sync.Mutex
	conn   net.Conn
	closed bool
}

type dialledKey struct{}

// noted notes connections in the dialled of their context, where there is one.
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

// close closes the connection that was made, or will be.
func (d *dialled) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.conn != nil {
		d.conn.Close()
	}
}
