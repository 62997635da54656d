package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// trajectoryImport is `relabel trajectory import FILE…`.
type trajectoryImport struct {
	ClientFlags
	Files []string `arg:"" type:"path" name:"file" help:"Documents in ATIF: JSON files with one each, .jsonl files with one per line, or folders that are searched for such files. Other JSON in folders is passed over."`
	api.ImportQuery
}

// Run imports the documents of all files together.
func (c *trajectoryImport) Run(ctx context.Context) error {
	lines, err := os.CreateTemp("", "relabel-atif-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(lines.Name())
	defer lines.Close()
	docs := &documents{to: lines}
	if err := docs.gather(c.Files); err != nil {
		return err
	}
	if _, err := lines.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		sum, err := cl.ImportTrajectories(ctx, client.Values(c.ImportQuery), lines, docs.size)
		if err != nil {
			return docs.inFile(err)
		}
		say("%s: %s of %s, %s, %d of them with a label", sum.Run.Name, counted(sum.Trajectories, "trajectory"), counted(sum.Tasks, "task"), counted(sum.Turns, "turn"), sum.Labels)
		for _, field := range slices.Sorted(maps.Keys(sum.Ignored)) {
			say("  not kept: %d × %s", sum.Ignored[field], field)
		}
		if sum.Labels < sum.Turns {
			say("To label the states: relabel run relabel %s --teacher %s", sum.Run.Name, c.Teacher)
		}
		return nil
	})
}

// documents are those of a request, one per line.
type documents struct {
	to     io.Writer
	size   int64    // bytes
	places []string // of each: its file, and its line in a .jsonl file
}

// gather writes the documents of all files and folders.
func (d *documents) gather(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			err = d.add(path, true)
		default:
			err = d.addFolder(path)
		}
		if err != nil {
			return err
		}
	}
	if d.size == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "there is no document in ATIF: a JSON object with schema_version ATIF-v1.…")
	}
	return nil
}

func (d *documents) addFolder(path string) error {
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".json" && filepath.Ext(file) != ".jsonl" {
			return err
		}
		return d.add(file, false)
	})
}

// add writes a file's documents. Other JSON is an error if the file was named.
func (d *documents) add(path string, named bool) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	docs, lines := [][]byte{content}, strings.HasSuffix(path, ".jsonl")
	if lines {
		docs = bytes.Split(content, []byte("\n"))
	}
	for i, doc := range docs {
		place := path
		if lines {
			place = fmt.Sprintf("%s: line %d", path, i+1)
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		if !isATIF(doc) {
			if named {
				return relabel.Errorf(relabel.CodeInvalid, "is not JSON with schema_version ATIF-v1.…").On(place)
			}
			continue
		}
		var line bytes.Buffer
		if err := json.Compact(&line, doc); err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "is not JSON").On(place).Because(err)
		}
		line.WriteByte('\n')
		n, err := d.to.Write(line.Bytes())
		if err != nil {
			return err
		}
		d.size, d.places = d.size+int64(n), append(d.places, place)
	}
	return nil
}

// lineOfBody matches the line of a request's body at the beginning of an error.
var lineOfBody = regexp.MustCompile(`^line (\d+)\b`)

// inFile is an error of the server that names a document's file instead of its line in the request.
func (d *documents) inFile(err error) error {
	match := lineOfBody.FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	line, _ := strconv.Atoi(match[1])
	if line < 1 || line > len(d.places) {
		return err
	}
	return relabel.Errorf(relabel.CodeOf(err), "%s%s", d.places[line-1], strings.TrimPrefix(err.Error(), match[0]))
}

// isATIF reports whether a document says that it is in ATIF.
func isATIF(doc []byte) bool {
	var head struct {
		SchemaVersion string `json:"schema_version"`
	}
	err := json.Unmarshal(doc, &head)
	var wrong *json.UnmarshalTypeError
	return (err == nil || errors.As(err, &wrong)) && strings.HasPrefix(head.SchemaVersion, "ATIF-v")
}
