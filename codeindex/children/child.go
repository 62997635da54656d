package children

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// child is one running program. It ends when its input ends or a file takes too long, and so soon after
// relabel, however that ends.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// errSlow means that a file took longer than its time.
var errSlow = errors.New("the time limit is reached")

func start(path string) (*child, error) {
	c := &child{cmd: exec.Command(path)}
	c.cmd.Env = []string{}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals of a terminal are relabel's
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

// ask returns the outcome and the records of a source. After an error the child can only be ended.
func (c *child) ask(language byte, source []byte, limit time.Duration) (outcome byte, records []byte, err error) {
	var slow atomic.Bool
	timer := time.AfterFunc(limit, func() {
		slow.Store(true)
		_ = c.cmd.Process.Kill()
	})
	defer timer.Stop()
	outcome, records, err = c.exchange(language, source)
	if err != nil && slow.Load() {
		err = errSlow
	}
	return outcome, records, err
}

func (c *child) exchange(language byte, source []byte) (outcome byte, records []byte, err error) {
	header := binary.LittleEndian.AppendUint32([]byte{language}, uint32(len(source)))
	if _, err := c.in.Write(header); err != nil {
		return 0, nil, err
	}
	if _, err := c.in.Write(source); err != nil {
		return 0, nil, err
	}
	if _, err := io.ReadFull(c.out, header); err != nil {
		return 0, nil, err
	}
	size := binary.LittleEndian.Uint32(header[1:])
	if size > maxRecords {
		return 0, nil, fmt.Errorf("%d bytes of records", size)
	}
	records = make([]byte, size)
	_, err = io.ReadFull(c.out, records)
	return header[0], records, err
}

// end stops the child, even if it hangs.
func (c *child) end() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
