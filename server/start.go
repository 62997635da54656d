package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
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
