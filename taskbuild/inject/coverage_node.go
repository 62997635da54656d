package inject

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"

	"relabel"
	"relabel/codeindex"
)

// number gives each step of the JavaScript and TypeScript files a number, and writes sources into the
// container in which each step tells its number before it runs. That works with each runner, also with those
// that compile sources before they run them. It returns the number of the first step of each file.
func (s *Source) number(ctx context.Context, room Container, task relabel.Task, files []file) (map[string]int, error) {
	numbered, next := map[string]int{}, 1
	for _, f := range files {
		if f.language != codeindex.JavaScript && f.language != codeindex.TypeScript || len(f.parts.Steps) == 0 {
			continue
		}
		source := telling(f.source, f.parts.Steps, next)
		if s.syntax.Parts(f.path, source).Problem != "" {
			continue // none of its steps counts as executed
		}
		if err := room.WriteFile(ctx, path.Join(task.Workdir, f.path), source); err != nil {
			return nil, err
		}
		numbered[f.path] = next
		next += len(f.parts.Steps)
	}
	return numbered, nil
}

// insertion is text at a place of a source.
type insertion struct {
	at   int
	text string
}

// telling returns a source whose steps tell their numbers, beginning with first.
func telling(source []byte, steps []codeindex.Step, first int) []byte {
	var all []insertion
	for i, step := range steps {
		call := fmt.Sprintf("process.__relabelExecuted?.(%d)", first+i)
		if step.Value {
			all = append(all, insertion{step.Start, "// @ts-ignore\n(" + call + ", "}, insertion{step.End, ")"})
			continue
		}
		all = append(all, insertion{step.Start, "// @ts-ignore\n" + call + ";\n"})
	}
	slices.SortStableFunc(all, func(a, b insertion) int { return a.at - b.at })
	var out bytes.Buffer
	from := 0
	for _, i := range all {
		out.Write(source[from:i.at])
		out.WriteString(i.text)
		from = i.at
	}
	out.Write(source[from:])
	return out.Bytes()
}
