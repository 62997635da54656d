package localpg

import (
	"io"
	"os"
	"syscall"
	"time"

	"relabel"
)

const (
	mostLog   = 16 << 20 // bytes of a log, and of the one before it
	logPeriod = 10 * time.Minute
)

// openLog opens a log that the server's user could have put a link in the place of.
func openLog(path string, flags int) (*os.File, error) {
	log, err := os.OpenFile(path, os.O_CREATE|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s cannot be written", path).Because(err)
	}
	return log, nil
}

// tendLog keeps the server's log short until stop is called.
func tendLog(path string, period time.Duration, most int64) (stop func()) {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			_ = turnLog(path, most) // a log that cannot be cut is no reason to stop a database
			select {
			case <-ended:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(ended)
		<-over
	}
}

// turnLog puts a log that is longer than most in the place of the one before, PATH.1, and
// empties it. The server appends to the same file all along; what it writes in that moment
// is lost.
func turnLog(path string, most int64) error {
	log, err := openLog(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer log.Close()
	is, err := log.Stat()
	if err != nil || is.Size() <= most {
		return err
	}
	before, err := openLog(path+".1", os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer before.Close()
	if _, err := log.Seek(is.Size()-most, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(before, log); err != nil {
		return err
	}
	return log.Truncate(0)
}
