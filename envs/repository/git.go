package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"relabel"
)

// gitOptions keep a mirror's configuration from running programs and from a network. A mirror may
// belong to another user.
var gitOptions = []string{"--no-pager", "--no-replace-objects",
	"-c", "safe.directory=*",
	"-c", "protocol.allow=never",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.attributesFile=/dev/null",
	"-c", "core.commitGraph=false",
	"-c", "core.bigFileThreshold=8m", // larger objects are not kept in memory
	"-c", "advice.graftFileDeprecated=false", // grafts are off, see gitEnvironment
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
}

// gitEnvironment is the whole environment of git.
func gitEnvironment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", // protocol.NAME.allow of a mirror does not override this one
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=/dev/null",
	}
}

// command returns git in a mirror's folder. A signal to the process group of this process, such as
// Ctrl-C, does not reach it.
func (m *Mirrors) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	all := append([]string{"--git-dir=" + dir}, gitOptions...)
	cmd := exec.CommandContext(ctx, m.git, append(all, args...)...)
	cmd.Dir = dir
	cmd.Env = gitEnvironment()
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// commandLimit bounds the time of one command.
const commandLimit = 5 * time.Minute

var errTooMuch = errors.New("git wrote too much")

// run returns what git writes, errTooMuch if that is more than limit bytes.
func (m *Mirrors) run(ctx context.Context, name string, limit int64, args ...string) ([]byte, error) {
	dir, err := m.folder(name)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := m.command(limited, dir, args...)
	var said complaint
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, failed(ctx, name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, failed(ctx, name, err)
	}
	text, err := io.ReadAll(io.LimitReader(out, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = errTooMuch
	}
	if err != nil {
		cancel()
		_ = cmd.Wait() // its error follows from the end above
		return nil, failed(ctx, name, err)
	}
	if err := cmd.Wait(); err != nil {
		return nil, failed(ctx, name, said.because(err))
	}
	return text, nil
}

// failed is the error of a git that failed, or of a context that ended. An error with a code stays.
func failed(ctx context.Context, name string, cause error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading the mirror of %s: %w", name, err)
	}
	var coded *relabel.Error
	if errors.As(cause, &coded) {
		return cause
	}
	return relabel.Errorf(relabel.CodeEnvironment, "the mirror of %s is damaged or cannot be read", name).Because(cause)
}

// complaint keeps the beginning of what git writes to its standard error.
type complaint struct{ text []byte }

// Write never fails.
func (c *complaint) Write(p []byte) (int, error) {
	room := 2000 - len(c.text)
	c.text = append(c.text, p[:min(room, len(p))]...)
	return len(p), nil
}

// because adds the complaint to an error.
func (c *complaint) because(err error) error {
	said := strings.TrimSpace(strings.ToValidUTF8(string(c.text), "?"))
	if said == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, said)
}
