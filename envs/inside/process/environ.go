package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// testbed is the conda environment that the images of the SWE-bench family test in.
const testbed = "/opt/miniconda3/envs/testbed"

// ErrNotFound says that a program is nowhere on the PATH.
var ErrNotFound = errors.New("command not found")

// CommandEnv is what commands see: the image's variables, pagers that do not wait, and
// the conda environment testbed activated where the image has one.
func CommandEnv(image []string) []string {
	env := append(append([]string(nil), image...), "PAGER=cat", "GIT_PAGER=cat")
	path := ValueOf(env, "PATH")
	if path == "" {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
		env = append(env, "PATH="+path)
	}
	if info, err := os.Stat(testbed + "/bin"); err == nil && info.IsDir() {
		env = append(env, "PATH="+testbed+"/bin:"+path, "CONDA_PREFIX="+testbed, "CONDA_DEFAULT_ENV=testbed")
	}
	return Unique(env)
}

// Unique keeps the last value of each variable, which is the one that counts.
func Unique(env []string) []string {
	last := map[string]int{}
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		last[name] = i
	}
	kept := make([]string, 0, len(last))
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if last[name] == i {
			kept = append(kept, kv)
		}
	}
	return kept
}

// ValueOf returns a variable's value, the last one where it is there more than once.
func ValueOf(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if n, value, _ := strings.Cut(env[i], "="); n == name {
			return value
		}
	}
	return ""
}

// LookPath finds a program on the PATH of env.
func LookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(ValueOf(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", ErrNotFound
}
