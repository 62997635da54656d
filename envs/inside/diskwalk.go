package inside

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"relabel/envs/inside/process"
	"relabel/envs/inside/worktree"
)

// maxOpenFiles bounds the open files that are checked, over all processes.
const maxOpenFiles = 100_000

// diskless are the types of file systems that use no disk.
var diskless = []string{"proc", "sysfs", "tmpfs", "ramfs", "devtmpfs", "devpts", "mqueue", "cgroup", "cgroup2", "hugetlbfs", "securityfs", "debugfs", "tracefs", "bpf"}

// diskRoots returns the root folder and the mount points of other disks, the image's volumes.
func diskRoots() []string {
	roots := []string{"/"}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return roots
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		path, fstype := parseMount(lines.Text())
		if path == "" || slices.Contains(diskless, fstype) || slices.Contains(roots, path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			roots = append(roots, path)
		}
	}
	return roots
}

// parseMount returns the mount point and the type of the file system of a line of
// /proc/self/mountinfo: "id parent major:minor root path options … - type source options".
func parseMount(line string) (path, fstype string) {
	before, after, _ := strings.Cut(line, " - ")
	fields, rest := strings.Fields(before), strings.Fields(after)
	if len(fields) < 5 || len(rest) < 1 {
		return "", ""
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	return unescape.Replace(fields[4]), rest[0]
}

// inodeBytes is the least that a file counts, in bytes: sandboxes share a disk's limited number of
// inodes.
const inodeBytes = 4096

// freeSpaces returns the free bytes on the file system of each path, and then the free inodes of each,
// times inodeBytes.
func freeSpaces(paths []string) []int64 {
	free := make([]int64, 2*len(paths))
	for i, path := range paths {
		var s syscall.Statfs_t
		if err := syscall.Statfs(path, &s); err == nil {
			free[i], free[len(paths)+i] = int64(s.Bavail)*s.Bsize, int64(s.Ffree)*inodeBytes
		}
	}
	return free
}

// written counts the bytes on disk of files of any type below the roots that changed since began, until
// they exceed enough. A root below another one is counted once.
func written(roots []string, began time.Time, enough int64) (bytes int64) {
	for _, root := range roots {
		bytes += writtenBelow(root, roots, began, enough-bytes)
	}
	return bytes
}

// writtenBelow is written for one folder, on its file system.
func writtenBelow(root string, roots []string, began time.Time, enough int64) (bytes int64) {
	var top syscall.Stat_t
	if err := syscall.Stat(root, &top); err != nil {
		return 0
	}
	for queue := []string{root}; len(queue) > 0 && bytes <= enough; {
		folder := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if len(folder)+1+syscall.NAME_MAX > worktree.MaxPath {
			bytes += writtenDeep(folder, began, enough-bytes)
			continue
		}
		entries, _ := os.ReadDir(folder) // what could be read counts
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			var s syscall.Stat_t
			if err := syscall.Lstat(path, &s); err != nil {
				continue // removed meanwhile
			}
			switch folder := s.Mode&syscall.S_IFMT == syscall.S_IFDIR; {
			case folder && (s.Dev != top.Dev || slices.Contains(roots, path)):
				continue
			case folder:
				queue, s.Nlink = append(queue, path), 1
			}
			if !time.Unix(s.Ctim.Unix()).Before(began) {
				bytes += max(s.Blocks*512, inodeBytes) / max(1, int64(s.Nlink))
			}
		}
	}
	return bytes
}

// writtenDeep is writtenBelow for a folder whose path is too long to append a name: it uses the folder's
// descriptor.
func writtenDeep(folder string, began time.Time, enough int64) int64 {
	f, err := os.Open(folder)
	if err != nil {
		return 0
	}
	defer f.Close()
	return writtenBelow("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), nil, began, enough)
}

// deletedAndOpen counts the bytes on disk of deleted files that a process has open. The caller has the
// rights of commands, which suffice for processes that do not hide.
func deletedAndOpen(roots []string) (bytes int64) {
	devices := map[uint64]bool{}
	for _, root := range roots {
		var s syscall.Stat_t
		if err := syscall.Stat(root, &s); err == nil {
			devices[s.Dev] = true
		}
	}
	type file struct{ device, inode uint64 }
	seen, left := map[file]bool{}, maxOpenFiles
	for pid := range process.ProcessTable() {
		folder := "/proc/" + strconv.Itoa(pid) + "/fd"
		names, _ := os.ReadDir(folder) // what could be read counts
		for _, name := range names[:min(len(names), left)] {
			left--
			var s syscall.Stat_t
			path := filepath.Join(folder, name.Name())
			if err := syscall.Stat(path, &s); err != nil || s.Nlink > 0 || s.Mode&syscall.S_IFMT != syscall.S_IFREG {
				continue
			}
			if at := (file{s.Dev, s.Ino}); !seen[at] && (devices[s.Dev] || !inMemory(path)) {
				seen[at] = true
				bytes += s.Blocks * 512
			}
		}
	}
	return bytes
}

// inMemory reports whether a file uses memory, which has its own limit, and no disk.
func inMemory(path string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return true // removed meanwhile
	}
	return slices.Contains([]uint32{unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.HUGETLBFS_MAGIC}, uint32(s.Type))
}
