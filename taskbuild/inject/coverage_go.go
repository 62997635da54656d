package inject

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"strconv"

	"relabel/codeindex"
)

// block is a range of a file that a coverage profile counts: lines, and columns in bytes, from 1.
type block struct {
	line, column, endLine, endColumn int
}

var (
	moduleLine  = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)
	profileLine = regexp.MustCompile(`^(.+):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)
)

// goBlocks returns the executed blocks of a profile by file of the repository.
func (s *Source) goBlocks(ctx context.Context, profile []string) (map[string][]block, error) {
	if len(profile) == 0 {
		return nil, nil
	}
	paths, err := s.scratch.paths(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string]string{} // of the repository by their names in the profile
	for _, manifest := range paths {
		if path.Base(manifest) != "go.mod" {
			continue
		}
		text, err := s.scratch.read(ctx, manifest)
		if err != nil {
			return nil, err
		}
		module := moduleLine.FindSubmatch(text)
		if module == nil {
			continue
		}
		dir := path.Dir(manifest)
		for _, name := range paths {
			if rest, below := cutFolder(name, dir); below {
				files[path.Join(string(module[1]), rest)] = name
			}
		}
	}
	blocks := map[string][]block{}
	for _, line := range profile {
		found := profileLine.FindStringSubmatch(line)
		if found == nil || found[6] == "0" || files[found[1]] == "" {
			continue
		}
		var n [4]int
		for i := range n {
			if n[i], err = strconv.Atoi(found[2+i]); err != nil {
				return nil, err
			}
		}
		name := files[found[1]]
		blocks[name] = append(blocks[name], block{n[0], n[1], n[2], n[3]})
	}
	return blocks, nil
}

// cutFolder returns a path below a folder, "." for the root, relative to it.
func cutFolder(name, dir string) (rest string, below bool) {
	if dir == "." {
		return name, true
	}
	if len(name) <= len(dir) || name[:len(dir)] != dir || name[len(dir)] != '/' {
		return "", false
	}
	return name[len(dir)+1:], true
}

// within reports whether a step starts in one of the blocks.
func within(blocks []block, source []byte, step codeindex.Step) bool {
	column := step.Start - bytes.LastIndexByte(source[:step.Start], '\n')
	for _, b := range blocks {
		after := step.Line > b.line || step.Line == b.line && column >= b.column
		before := step.Line < b.endLine || step.Line == b.endLine && column < b.endColumn
		if after && before {
			return true
		}
	}
	return false
}
