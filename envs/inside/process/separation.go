package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// UserID is sandboxd's user and group in a container. No known image uses it, and it is below 65536,
// the range that engines with user namespaces map.
const UserID = 63271

// keptCapabilities are the capabilities that sandboxd keeps, as envs/docker grants them: to start
// commands as the image's user, to end them, to read and remove their files, and to drop all their
// capabilities.
var keptCapabilities = []uintptr{
	unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_SETPCAP, unix.CAP_KILL, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER,
}

// Separation isolates sandboxd from commands: they run as the image's user without capabilities,
// sandboxd as UserID. A nil Separation runs everything as this process.
//
// In Linux credentials belong to threads, so each kind of work has a thread with exactly the
// credentials that it needs.
type Separation struct {
	groups   []uint32 // root's supplementary groups at the container's start
	User     user     // of commands
	commands *worker  // starts commands
	git      *worker  // starts git: it may read every file
	files    *worker  // reads and writes files as commands do
}

// Separate changes this process, which must be root with keptCapabilities, to UserID. It is called
// once, before other threads work.
func Separate() (*Separation, error) {
	groups, err := os.Getgroups()
	if err != nil {
		return nil, fmt.Errorf("separate sandboxd from commands: %w", err)
	}
	s := &Separation{}
	for _, g := range groups {
		s.groups = append(s.groups, uint32(g))
	}
	if err := becomeUser(UserID); err != nil {
		return nil, fmt.Errorf("separate sandboxd from commands (the engine must grant the capabilities): %w", err)
	}
	return s, nil
}

// becomeUser changes all threads to a user with keptCapabilities.
func becomeUser(id int) error {
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_KEEPCAPS, 1, 0); errno != 0 {
		return fmt.Errorf("keep capabilities: %w", errno)
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(id, id, id), syscall.Setresuid(id, id, id)); err != nil {
		return fmt.Errorf("change the user: %w", err)
	}
	header, data := capabilities(keptCapabilities, nil)
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0)
	if errno != 0 {
		return fmt.Errorf("set capabilities: %w", errno)
	}
	return nil
}

// Open starts the threads. spec is the user of commands, in the form of an image's USER.
func (s *Separation) Open(spec string) (err error) {
	if s == nil {
		return nil
	}
	if s.User, err = findUser(spec, s.groups); err != nil {
		return err
	}
	var errs [3]error
	s.commands, errs[0] = newWorker(func() error {
		return errors.Join(dropBounding(), setCapabilities([]uintptr{unix.CAP_SETUID, unix.CAP_SETGID}, nil))
	})
	s.git, errs[1] = newWorker(mayReadAll)
	s.files, errs[2] = newWorker(s.User.actAs)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("prepare the threads of sandboxd: %w", err)
	}
	return hideFromCommands()
}

// mayReadAll gives programs of this thread only the right to read every file.
func mayReadAll() error {
	read := []uintptr{unix.CAP_DAC_READ_SEARCH}
	if err := errors.Join(setCapabilities(keptCapabilities, read), dropBounding(), setCapabilities(read, read)); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_DAC_READ_SEARCH, 0, 0)
}

// hideFromCommands makes this process's user the owner of its files below /proc. A change of
// credentials makes root their owner, and commands may run as root.
func hideFromCommands() error {
	return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
}

// credential is the credential of commands.
func (s *Separation) credential() *syscall.Credential {
	if s == nil {
		return nil
	}
	return &syscall.Credential{Uid: s.User.uid, Gid: s.User.gid, Groups: s.User.groups}
}

// AsCommands calls do with the file rights of commands.
func (s *Separation) AsCommands(do func()) {
	if s == nil {
		do()
		return
	}
	s.files.do(do)
}

// forking returns the threads that start commands and git; nil means the caller's own.
func (s *Separation) forking() (commands, git *worker) {
	if s == nil {
		return nil, nil
	}
	return s.commands, s.git
}

// capabilities encodes sets of capabilities for capset(2).
func capabilities(permitted, inheritable []uintptr) (header unix.CapUserHeader, data [2]unix.CapUserData) {
	header.Version = unix.LINUX_CAPABILITY_VERSION_3
	for _, c := range permitted {
		data[c/32].Permitted |= 1 << (c % 32)
	}
	for _, c := range inheritable {
		data[c/32].Inheritable |= 1 << (c % 32)
	}
	for i := range data {
		data[i].Effective = data[i].Permitted
	}
	return header, data
}

// setCapabilities sets the capabilities of this thread.
func setCapabilities(permitted, inheritable []uintptr) error {
	header, data := capabilities(permitted, inheritable)
	return unix.Capset(&header, &data[0])
}

// dropBounding removes all capabilities from the bounding set of this thread.
func dropBounding() error {
	for c := uintptr(0); c < 64; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			return nil // the kernel has no further one
		}
		if err != nil {
			return err
		}
	}
	return nil
}
