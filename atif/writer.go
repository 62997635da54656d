package atif

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"relabel"
)

// Writer writes a document piece by piece, as one line without a line feed. After an error it must not be used.
type Writer struct {
	w      io.Writer
	record Record
	steps  int
	sum    finalMetrics
}

// NewWriter writes the beginning of r's document: everything before its first turn. r.Turns is not used:
// Turn writes each.
func NewWriter(w io.Writer, r Record) (*Writer, error) {
	out := &Writer{w: w, record: r}
	begin, err := encode(head{SchemaVersion: Version, SessionID: text(r.SessionID), TrajectoryID: text(r.TrajectoryID), Agent: agentOf(r)})
	if err != nil {
		return nil, err
	}
	if err := out.write(begin[:len(begin)-1], []byte(`,"steps":[`)); err != nil {
		return nil, err
	}
	for _, m := range r.Opening {
		if err := out.step(step{Source: sourceOf(m.Role), Message: content(m.Content)}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sourceOf is the source of a message before the first turn.
func sourceOf(role string) string {
	if role == relabel.RoleSystem {
		return sourceSystem
	}
	return sourceUser
}

func agentOf(r Record) agent {
	a := agent{Name: text(r.AgentName), Version: text(r.AgentVersion), ModelName: text(r.Model)}
	for _, t := range r.Tools {
		a.ToolDefinitions = append(a.ToolDefinitions, toolDefinition{Type: "function",
			Function: functionTool{Name: text(t.Name), Description: text(t.Description), Parameters: rawValue(t.Parameters)}})
	}
	return a
}

// Turn writes the next turn.
func (w *Writer) Turn(turn relabel.Turn) error {
	s, err := w.stepOf(turn)
	if err != nil {
		return err
	}
	return w.step(s)
}

func (w *Writer) step(s step) error {
	w.steps++
	s.StepID = w.steps
	line, err := encode(s)
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "step %d cannot be written", s.StepID).Because(err)
	}
	if w.steps > 1 {
		return w.write([]byte(","), line)
	}
	return w.write(line)
}

// Close writes the end of the document. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.sum.Steps = w.steps
	end := tail{FinalMetrics: &w.sum}
	if own := w.record.Own; own != nil {
		extra, err := encode(ours[ownRoot]{ownRoot{Format: ownFormat, Run: own.Run, Trajectory: own.Trajectory,
			Teacher: own.Teacher, Student: own.Student, Patch: exactText(own.Patch)}})
		if err != nil {
			return err
		}
		end.Extra = extra
	}
	line, err := encode(end)
	if err != nil {
		return err
	}
	line[0] = ','
	return w.write([]byte("]"), line)
}

func (w *Writer) write(pieces ...[]byte) error {
	for _, p := range pieces {
		if _, err := w.w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// Write writes r's whole document to w.
func Write(w io.Writer, r Record) error {
	out, err := NewWriter(w, r)
	if err != nil {
		return err
	}
	for _, turn := range r.Turns {
		if err := out.Turn(turn); err != nil {
			return err
		}
	}
	return out.Close()
}

// encode is json.Marshal without escapes of HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// timestamp is a time in ISO 8601, "" if it is unknown.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
