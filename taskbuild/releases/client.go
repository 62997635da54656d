package releases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"relabel"
	"relabel/safetext"
)

// clientLimit bounds one call of a registry's client.
const clientLimit = 10 * time.Minute

// run runs a program in a folder and returns what it writes to its standard output. env is added to the
// environment, which has the user's settings of registries, proxies and credentials. The error has the
// end of what the program says.
func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s is not on the PATH; install it: %s", name, packages[name])
	case limited.Err() != nil:
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s %s did not end in %s", name, args[0], clientLimit)
	}
	said := lastText(stderr.Bytes())
	if said == "" {
		said = lastText(stdout.Bytes())
	}
	return nil, relabel.Errorf(relabel.CodeUnavailable, "%s %s failed", name, args[0]).Because(fmt.Errorf("%w: %s", err, said))
}

// packages tells how each client is installed.
var packages = map[string]string{
	"python3": "apt-get install -y python3 python3-pip",
	"npm":     "apt-get install -y npm",
	"cargo":   "apt-get install -y cargo-web rustc-web",
	"go":      "see https://go.dev/doc/install",
	"mvn":     "apt-get install -y maven",
	"git":     "apt-get install -y git",
}

// lastText returns the end of a text as one line.
func lastText(text []byte) string {
	line := strings.Join(strings.Fields(string(text)), " ")
	if len(line) > 600 {
		line = "…" + line[len(line)-600:]
	}
	return safetext.TerminalLine(strings.ToValidUTF8(line, "�"))
}
