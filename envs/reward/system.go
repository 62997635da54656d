package reward

import (
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs"
)

// system matches what the tests may run or read before and beside their own files: programs, libraries and
// settings of shells, loaders, interpreters and runners of tests.
var system = regexp.MustCompile(`^/(s?bin|lib(32|64|x32)?|usr/s?bin|usr/lib(32|64|x32|exec)?|usr/local/(s?bin|lib))/|` +
	`^/etc/(ld\.so|profile|bash|environment|nsswitch|pip|python|cron|pam|sudoers|passwd|shadow|alternatives)|` +
	`^/var/spool/cron/|` +
	`^/(root|home/[^/]+)/\.(local|config|bash|profile|zsh|curlrc|wgetrc|netrc|pip|npmrc|pytest|pypirc|env|pyenv|nvm|cargo/bin)|` +
	`^/(conftest\.py|pytest\.ini|pyproject\.toml|tox\.ini|setup\.cfg)$`)

// core matches the loader, the C library and, with coreNames, the programs that every script of tests relies on.
// No work on a task needs to change them.
var (
	coreFiles = regexp.MustCompile(`^/etc/ld\.so\.preload$|^/(usr/)?lib.*/(ld-[^/]*\.so[^/]*|libc\.so\.6|libc-[^/]*\.so|libc\.musl[^/]*)$`)
	coreDirs  = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
	coreNames = strings.Fields(`[ awk base64 basename bash busybox cat chmod cmp cp cut dash date diff dirname echo env expr false find gawk grep
		head id kill ls mawk md5sum mkdir mktemp mv printf ps pwd readlink rm sed seq sh sha256sum sleep sort stat tail tee test timeout touch tr
		true uname uniq wc which xargs`)
)

// coreFolders matches the folders of the core's files. In images with a merged /usr, some are links.
var coreFolders = regexp.MustCompile(`^/(s?bin|lib[^/]*|usr|usr/local|usr/(local/)?s?bin|usr/lib[^/]*|(usr/)?lib[^/]*/[^/]*-linux-[^/]*)$`)

// searchPath returns the folders in which a command of the tests looks for programs. /bin/sh must be known to be the
// image's.
func searchPath(ctx context.Context, sandbox envs.Sandbox, env []string) ([]string, error) {
	result, err := sandbox.Run(ctx, envs.Command{Args: []string{"/bin/sh", "-c", `printf %s "$PATH"`}, Dir: "/", Env: env, Timeout: preparing})
	if err != nil || result.Exit != 0 {
		return nil, err
	}
	return strings.Split(string(result.Output), ":"), nil
}

// replacedFolders returns the altered folders of the core that are links or files now.
func replacedFolders(ctx context.Context, sandbox envs.Sandbox, altered []string) (replaced []string, err error) {
	for _, p := range altered {
		if !coreFolders.MatchString(p) {
			continue
		}
		info, err := sandbox.Stat(ctx, p)
		if problem := only(err, fs.ErrNotExist, fs.ErrPermission, envs.ErrNotDirectory); problem != nil {
			return nil, problem
		}
		if err != nil || !info.Mode.IsDir() {
			replaced = append(replaced, p)
		}
	}
	return replaced, nil
}

// tamperedCore returns the altered files and folders of the core, in any folder of programs of the tests, whose
// environment is env, and other altered files of the system.
func tamperedCore(ctx context.Context, sandbox envs.Sandbox, altered, env []string) (files, core []string, err error) {
	replaced, err := replacedFolders(ctx, sandbox, altered)
	if err != nil {
		return nil, nil, err
	}
	files, core = alteredSystem(altered, nil)
	if len(core)+len(replaced) == 0 {
		programs, err := searchPath(ctx, sandbox, env)
		if err != nil {
			return nil, nil, err
		}
		files, core = alteredSystem(altered, programs)
	}
	return append(replaced, files...), append(replaced, core...), nil
}

// alteredSystem returns the files of the system among altered paths, and those of its core, which are also in the
// folders of programs. altered is sorted and includes the folders of altered files, which are left out.
func alteredSystem(altered, programs []string) (files, core []string) {
	for i, p := range altered {
		folder := i+1 < len(altered) && strings.HasPrefix(altered[i+1], p+"/")
		switch {
		case folder:
		case coreFiles.MatchString(p), isCore(p) && (isIn(p, coreDirs) || isIn(p, programs)):
			core = append(core, p)
			files = append(files, p)
		case system.MatchString(p) && !compiled(p):
			files = append(files, p)
		}
	}
	return files, core
}

func isIn(p string, folders []string) bool { return slices.Contains(folders, path.Dir(p)) }

func isCore(p string) bool { return slices.Contains(coreNames, path.Base(p)) }

// compiled reports whether Python writes a file when it loads a module.
func compiled(p string) bool { return strings.HasSuffix(p, ".pyc") || path.Base(p) == "__pycache__" }
