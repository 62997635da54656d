package inject

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// notes keeps results in a file, one JSON object for each line, so that the next build does not run anything
// twice. A line that a crash cut short is removed.
type notes struct {
	file  *os.File
	known map[string]json.RawMessage
}

type note struct {
	Key    string          `json:"key"`
	Result json.RawMessage `json:"result"`
}

func openNotes(path string) (*notes, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	n := &notes{file: file, known: map[string]json.RawMessage{}}
	in, whole := bufio.NewReader(file), int64(0)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		var one note
		if json.Unmarshal(bytes.TrimSpace(line), &one) != nil {
			break // what follows is made again
		}
		n.known[one.Key] = one.Result
		whole += int64(len(line))
	}
	if err := file.Truncate(whole); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return n, nil
}

// find fills in the result of a key; ok is false if there is none.
func (n *notes) find(key string, result any) (ok bool) {
	text, ok := n.known[key]
	return ok && json.Unmarshal(text, result) == nil
}

// add stores a result. After it returns, a crash does not lose the result.
func (n *notes) add(key string, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	line, err := json.Marshal(note{key, text})
	if err != nil {
		return err
	}
	if _, err := n.file.Write(append(line, '\n')); err != nil {
		return err
	}
	n.known[key] = text
	return n.file.Sync()
}

func (n *notes) close() error { return n.file.Close() }
