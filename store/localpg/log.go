package localpg

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"relabel"
)

const (
	mostLog   = 16 << 20 // bytes of a log, and of the previous one
	logPeriod = 10 * time.Minute
)

// openLog opens a log. It refuses a link, because the server's user could have created one.
func openLog(path string, flags int) (*os.File, error) {
	log, err := os.OpenFile(path, os.O_CREATE|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot write %s", path).Because(err)
	}
	return log, nil
}

// rotateLogs rotates the server's log until stop is called; stop may be called again.
func rotateLogs(path string, period time.Duration, most int64) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			_ = rotateLog(path, most) // the database runs on without a rotation
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// rotateLog moves the end of a log that is longer than most to PATH.1 and empties it. The server
// appends to the same file meanwhile; lines that it writes during the move are lost.
func rotateLog(path string, most int64) error {
	log, err := openLog(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil || info.Size() <= most {
		return err
	}
	previous, err := openLog(path+".1", os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer previous.Close()
	if _, err := log.Seek(info.Size()-most, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(previous, log); err != nil {
		return err
	}
	return log.Truncate(0)
}
