package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testbed is the conda environment of images of the SWE-bench family.
const testbed = "/opt/miniconda3/envs/testbed"

// ErrNotFound means that a program is not on the PATH.
var ErrNotFound = errors.New("command not found")

// CommandEnv is the environment of commands: the image's variables, pagers that do not wait, and the
// conda environment testbed, if the image has it, activated.
func CommandEnv(image []string) []string {
	env := slices.Concat(image, []string{"PAGER=cat", "GIT_PAGER=cat"})
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

// Unique keeps the last value of each variable, which takes effect.
func Unique(env []string) (kept []string) {
	seen := map[string]bool{}
	for _, kv := range slices.Backward(env) {
		name, _, _ := strings.Cut(kv, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, kv)
		}
	}
	slices.Reverse(kept)
	return kept
}

// ValueOf returns a variable's last value.
func ValueOf(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, value, _ := strings.Cut(kv, "="); n == name {
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
