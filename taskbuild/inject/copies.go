package inject

import (
	"bytes"
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"path"
	"strings"

	"relabel"
	"relabel/taskbuild"
)

//go:embed copies.sh
var copiesScript string

// minPassage is how many bytes, without white space, identify a place in a source.
const minPassage = 80

// copies returns the files of the image, other than the file of a bug, that have the code without the bug: for
// example an installed copy of the repository, or a package in node_modules that contains it. An agent could read
// the fix there. The image is that of the repository as it is: those of bugs differ from it only in one file.
func (s *Source) copies(ctx context.Context, m Mutation, before *passing) (paths []string, err error) {
	f := s.file(m.Path)
	passage, word := passageOf(f.source, m)
	room, err := s.rooms.Open(ctx, before.task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, room.Close(ctx)) }()
	if err := room.WriteFile(ctx, folder+"/passage", passage); err != nil {
		return nil, err
	}
	own := path.Join(before.task.Workdir, m.Path)
	ran, err := room.Run(ctx, strings.Join([]string{"set --", taskbuild.Quote(word), taskbuild.Quote(folder + "/passage"), taskbuild.Quote(own)}, " ")+"\n"+copiesScript, s.timeout())
	if err != nil {
		return nil, err
	}
	if ran.TimedOut || ran.Exit != 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the image of %s cannot be searched for copies of %s (exit code %d): it needs bash, grep and tr", s.options.Repository, m.Path, ran.Exit).
			Because(fmt.Errorf("%s", ran.Output))
	}
	return strings.FieldsFunc(string(ran.Output), func(r rune) bool { return r == '\n' }), nil
}

// passageOf returns the lines around a bug as they are without it, without white space, and their longest word. It
// takes as many lines as are needed for minPassage bytes.
func passageOf(source []byte, m Mutation) (passage []byte, word string) {
	start, end := m.Edits[0].Start, m.Edits[len(m.Edits)-1].End
	for {
		start = bytes.LastIndexByte(source[:start], '\n') + 1
		if i := bytes.IndexByte(source[end:], '\n'); i >= 0 {
			end += i
		} else {
			end = len(source)
		}
		words := strings.Fields(string(source[start:end]))
		passage = []byte(strings.Join(words, ""))
		if len(passage) >= minPassage || start == 0 && end == len(source) {
			return passage, longest(words)
		}
		start, end = max(0, start-1), min(len(source), end+1)
	}
}

// longest returns the longest of some words.
func longest(words []string) string {
	word := ""
	for _, w := range words {
		if len(w) > len(word) {
			word = w
		}
	}
	return word
}
