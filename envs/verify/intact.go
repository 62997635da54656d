package verify

import (
	"context"
	"strings"
)

// stampScript prints, for each path on standard input, ended by NUL, its inode, the time of
// its last change, which no program can set, and its size. A path that is not there has
// none.
const stampScript = `xargs -0 -r -n 500 stat --printf '%n\t%i %.9Z %s\0' -- 2>/dev/null
exit 0
`

// stamps returns what stampScript prints of the guarded files. The problem is the container's.
func (s *stage) stamps(ctx context.Context) (stamps map[string]string, problem string) {
	files := s.guarded
	if len(files) == 0 {
		return nil, ""
	}
	r, problem := s.look(ctx, "looking at the files of the tests", stampScript, []byte(strings.Join(files, "\x00")+"\x00"))
	if problem != "" {
		return nil, problem
	}
	stamps = map[string]string{}
	for _, field := range strings.Split(string(r.Output), "\x00") {
		if name, stamp, ok := strings.Cut(field, "\t"); ok {
			stamps[name] = stamp
		}
	}
	return stamps, ""
}

// changedSince returns the guarded files whose stamps are no longer what they were.
func (s *stage) changedSince(ctx context.Context, before map[string]string) (changed []string, problem string) {
	after, problem := s.stamps(ctx)
	for _, file := range s.guarded {
		if problem == "" && before[file] != after[file] {
			changed = append(changed, file)
		}
	}
	return changed, problem
}
