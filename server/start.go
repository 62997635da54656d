package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"relabel"
)

// shutdownLimit bounds how long requests may take at a stop before their connections are closed.
const shutdownLimit = 5 * time.Second

// Start answers requests on a listener until stop. The returned context ends with ctx, and with an
// error as its cause if the listener fails; stop returns that error too.
func Start(ctx context.Context, l net.Listener, handler http.Handler) (serving context.Context, stop func() error) {
	srv := NewHTTP(l.Addr().String(), handler)
	serving, fail := context.WithCancelCause(ctx)
	failed := make(chan error, 1)
	go func() {
		err := srv.Serve(l)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		failed <- err
		fail(err)
	}()
	return serving, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownLimit)
		defer cancel()
		err := srv.Shutdown(ctx)
		if err != nil {
			err = srv.Close()
		}
		return errors.Join(err, <-failed)
	}
}

// Listen opens an address that a flag gives.
func Listen(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot listen on %s; choose another address with %s", address, flag).Because(err)
	}
	return l, nil
}

// AddressOf returns the URL of a listener, with this machine's name if it listens on all
// addresses.
func AddressOf(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return "http://" + l.Addr().String()
	}
	if name, err := os.Hostname(); err == nil {
		host = name
	}
	return "http://" + net.JoinHostPort(host, port)
}

// IsLoopback reports whether only this machine can reach the address.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
