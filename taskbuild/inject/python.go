package inject

import (
	"context"
	_ "embed" // the programs
	"encoding/json"
	"fmt"
	"time"

	"relabel"
	"relabel/codeindex"
)

// partsProgram finds the parts of Python files in the container, with the repository's own Python.
//
//go:embed parts.py
var partsProgram []byte

const (
	folder    = "/tmp/relabel-inject" // of our files in a container
	maxAnswer = 64 << 20              // bytes of parts
	parseTime = 5 * time.Minute
)

// pythonParts returns the parts of Python sources.
func pythonParts(ctx context.Context, room Container, sources [][]byte) ([]codeindex.Parts, error) {
	question, err := json.Marshal(sources) // in base64
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"parts.py": partsProgram, "sources.json": question} {
		if err := room.WriteFile(ctx, folder+"/"+name, content); err != nil {
			return nil, err
		}
	}
	const script = `python=$(command -v python3 || command -v python) && cd ` + folder + ` && "$python" -I parts.py sources.json parts.json`
	ran, err := room.Run(ctx, script, parseTime)
	if err != nil {
		return nil, err
	}
	if ran.Exit != 0 || ran.TimedOut {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the Python of the image cannot parse the sources (exit code %d): it must be Python 3.8 or later", ran.Exit).
			Because(fmt.Errorf("%s", ran.Output))
	}
	answer, err := room.ReadFile(ctx, folder+"/parts.json", maxAnswer)
	if err != nil {
		return nil, err
	}
	var parts []codeindex.Parts
	if err := json.Unmarshal(answer, &parts); err != nil {
		return nil, err
	}
	if len(parts) != len(sources) {
		return nil, relabel.Errorf(relabel.CodeInternal, "parts of %d files, not of %d", len(parts), len(sources))
	}
	return parts, nil
}
