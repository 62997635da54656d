package localpg

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"relabel"
)

// account is the user that Postgres runs as, because it refuses to run as root.
type account struct {
	name     string
	uid, gid int
	switched bool // relabel runs as root and becomes this user for Postgres
}

// chooseUser returns relabel's own user; for root, the user postgres or, if there is none, nobody.
func chooseUser() (account, error) {
	if os.Geteuid() != 0 {
		return account{name: "this user", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.Atoi(u.Uid)
		gid, errG := strconv.Atoi(u.Gid)
		if errU == nil && errG == nil && uid != 0 {
			return account{name: name, uid: uid, gid: gid, switched: true}, nil
		}
	}
	return account{}, relabel.Errorf(relabel.CodeUnavailable,
		"Postgres does not run as root, and there is no user postgres or nobody; run relabel as another user or set DATABASE_URL")
}

// attributes starts a child process as this user, in a separate session, so that a Ctrl-C in the
// terminal does not reach it.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a.switched {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// own creates dir, private to the user. It refuses a folder of another user, which may be a trap
// in a shared folder.
func (a account) own(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return relabel.Errorf(relabel.CodeUnavailable, "cannot create %s", dir).Because(err)
	}
	made := err == nil
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return relabel.Errorf(relabel.CodeUnavailable, "%s is not a folder", dir).Because(err)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	ours := made || a.switched && owner == 0 // after an interrupted start root owns it
	if owner != a.uid && !ours {
		return relabel.Errorf(relabel.CodeUnavailable, "%s does not belong to %s (uid %d), the user that Postgres runs as", dir, a.name, a.uid)
	}
	if a.switched && ours {
		err = os.Chown(dir, a.uid, a.gid)
	}
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "cannot change the owner of %s to %s", dir, a.name).Because(err)
	}
	return nil
}

// reaches fails with what to do if the user cannot pass through a folder above dir.
func (a account) reaches(dir string) error {
	if !a.switched {
		return nil
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return relabel.Errorf(relabel.CodeUnavailable, "cannot inspect %s", parent).Because(err)
		}
		if !a.maySearch(info) {
			return relabel.Errorf(relabel.CodeUnavailable,
				"relabel runs as root, so Postgres runs as %s, which cannot pass through %s; choose a data folder elsewhere (for example /var/lib/relabel), open it (chmod o+x %s), or set DATABASE_URL",
				a.name, parent, parent)
		}
		if parent == filepath.Dir(parent) {
			return nil
		}
	}
}

// maySearch reports whether the user may pass through a folder, with the kernel's rule.
func (a account) maySearch(info fs.FileInfo) bool {
	st, mode := info.Sys().(*syscall.Stat_t), info.Mode().Perm()
	switch {
	case int(st.Uid) == a.uid:
		return mode&0o100 != 0
	case int(st.Gid) == a.gid:
		return mode&0o010 != 0
	}
	return mode&0o001 != 0
}
