package reward

import (
	"path"
	"regexp"
	"slices"
	"strings"
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

// alteredSystem returns the files of the system among altered paths, and those of its core. altered is sorted and
// includes the folders of altered files, which are left out.
func alteredSystem(altered []string) (files, core []string) {
	for i, p := range altered {
		folder := i+1 < len(altered) && strings.HasPrefix(altered[i+1], p+"/")
		switch {
		case folder:
		case coreFiles.MatchString(p), slices.Contains(coreDirs, path.Dir(p)) && slices.Contains(coreNames, path.Base(p)):
			core = append(core, p)
			files = append(files, p)
		case system.MatchString(p) && !compiled(p):
			files = append(files, p)
		}
	}
	return files, core
}

// compiled reports whether Python writes a file when it loads a module.
func compiled(p string) bool { return strings.HasSuffix(p, ".pyc") || path.Base(p) == "__pycache__" }
