package process

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// user is the user of commands.
type user struct {
	uid, gid uint32
	groups   []uint32 // supplementary ones
	home     string   // "" if unknown
}

// Fields of /etc/passwd and /etc/group.
const (
	passwdName, passwdUID, passwdGID, passwdHome = 0, 2, 3, 5
	groupName, groupID, groupMembers             = 0, 2, 3
)

// findUser resolves an image's USER ("", "name", "uid", "name:group", "uid:gid") with the image's files,
// like the engine. rootGroups are root's supplementary groups.
func findUser(spec string, rootGroups []uint32) (user, error) {
	name, group, hasGroup := strings.Cut(spec, ":")
	u, login, err := lookUpUser(cmp.Or(name, "0"))
	if err != nil {
		return u, err
	}
	switch {
	case hasGroup:
		u.gid, err = lookUpGroup(group)
	case u.uid == 0:
		u.groups = rootGroups
	default:
		u.groups = groupsOf(login)
	}
	return u, err
}

// lookUpUser finds a user by name or number. An unlisted number has the group 0.
func lookUpUser(name string) (u user, login string, err error) {
	for _, entry := range entriesOf("/etc/passwd", passwdHome+1) {
		if entry[passwdName] != name && entry[passwdUID] != name {
			continue
		}
		uid, err1 := strconv.ParseUint(entry[passwdUID], 10, 32)
		gid, err2 := strconv.ParseUint(entry[passwdGID], 10, 32)
		return user{uid: uint32(uid), gid: uint32(gid), home: entry[passwdHome]}, entry[passwdName], errors.Join(err1, err2)
	}
	uid, err := strconv.ParseUint(name, 10, 31)
	if err != nil {
		return user{}, "", fmt.Errorf("the image's user %q is not in its /etc/passwd", name)
	}
	return user{uid: uint32(uid)}, "", nil
}

// lookUpGroup finds a group by name or number.
func lookUpGroup(name string) (uint32, error) {
	for _, entry := range entriesOf("/etc/group", groupID+1) {
		if entry[groupName] == name {
			gid, err := strconv.ParseUint(entry[groupID], 10, 32)
			return uint32(gid), err
		}
	}
	gid, err := strconv.ParseUint(name, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("the group %q of the image's user is not in its /etc/group", name)
	}
	return uint32(gid), nil
}

// groupsOf lists the groups with a user as a member.
func groupsOf(login string) (groups []uint32) {
	for _, entry := range entriesOf("/etc/group", groupMembers+1) {
		if login == "" || !slices.Contains(strings.Split(entry[groupMembers], ","), login) {
			continue
		}
		if gid, err := strconv.ParseUint(entry[groupID], 10, 32); err == nil {
			groups = append(groups, uint32(gid))
		}
	}
	return groups
}

// entriesOf reads the lines of colon-separated fields of a file, without lines of fewer than least
// fields. A file that cannot be read has no entries.
func entriesOf(path string, least int) (entries [][]string) {
	content, err := ReadPlain(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) >= least {
			entries = append(entries, fields)
		}
	}
	return entries
}

// actAs gives this thread the user's file rights and no capability. Its other user ids remain
// sandboxd's, so that commands can neither signal nor limit sandboxd through it.
func (u user) actAs() error {
	var first unsafe.Pointer
	if len(u.groups) > 0 {
		first = unsafe.Pointer(&u.groups[0])
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(u.groups)), uintptr(first), 0); errno != 0 {
		return errno
	}
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSGID, uintptr(u.gid), 0, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, uintptr(u.uid), 0, 0)
	// setfsuid returns no errors but the previous id; an impossible id only queries it.
	if now, _, _ := unix.RawSyscall(unix.SYS_SETFSUID, ^uintptr(0), 0, 0); uint32(now) != u.uid {
		return fmt.Errorf("act as user %d on files: %w", u.uid, syscall.EPERM)
	}
	return setCapabilities(nil, nil)
}

// InEnvironment sets the user's home folder if the engine set root's.
func (u user) InEnvironment(env []string) []string {
	root, _, err := lookUpUser("0")
	if u.uid == 0 || u.home == "" || err != nil || os.Getenv("HOME") != root.home {
		return env
	}
	return append(env, "HOME="+u.home)
}
