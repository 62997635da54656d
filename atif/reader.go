package atif

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"relabel"
)

// Read reads a document. A trajectory of relabel is read without loss. One of another harness becomes turns of
// the student without labels: Ignored counts what is not kept. CodeInvalid names the field that is not valid,
// or that relabel's trajectories cannot have, such as images.
func Read(doc []byte) (Record, error) {
	var whole struct {
		head
		Steps []json.RawMessage `json:"steps"`
		tail
	}
	if err := decode(doc, &whole); err != nil {
		return Record{}, err
	}
	if err := checkRoot(whole.head, whole.tail); err != nil {
		return Record{}, err
	}
	r := recordOf(whole.head)
	root, err := ownFields[ownRoot](whole.Extra)
	if err != nil {
		return Record{}, at("extra", err)
	}
	if root != nil {
		if root.Format != ownFormat {
			return Record{}, relabel.Errorf(relabel.CodeInvalid, "is %d, which this version of relabel does not know: it reads %d", root.Format, ownFormat).On("extra.relabel.format")
		}
		r.Own = &Own{Trajectory: root.Trajectory, Run: root.Run, Teacher: root.Teacher, Student: root.Student}
		if root.Patch != "" {
			r.Own.Patch = []byte(root.Patch)
		}
	}
	in := &reading{record: &r}
	in.ignore("agent.extra", whole.Agent.Extra != nil)
	in.ignore("notes", whole.Notes != "")
	in.ignore("extra", whole.Extra != nil && root == nil)
	for i, raw := range whole.Steps {
		if err := in.step(i, raw); err != nil {
			return Record{}, at(fmt.Sprintf("steps[%d]", i), err)
		}
	}
	if len(r.Turns) == 0 && r.Own == nil {
		return Record{}, relabel.Errorf(relabel.CodeInvalid, "has no step of the agent").On("steps")
	}
	return r, nil
}

func recordOf(h head) Record {
	r := Record{AgentName: string(h.Agent.Name), AgentVersion: string(h.Agent.Version), Model: string(h.Agent.ModelName),
		SessionID: string(h.SessionID), TrajectoryID: string(h.TrajectoryID), Ignored: map[string]int{}}
	for _, t := range h.Agent.ToolDefinitions {
		r.Tools = append(r.Tools, relabel.Tool{Name: string(t.Function.Name), Description: string(t.Function.Description), Parameters: string(t.Function.Parameters)})
	}
	return r
}

// checkRoot refuses documents that are not one whole trajectory.
func checkRoot(h head, t tail) error {
	switch {
	case !knownVersion(h.SchemaVersion):
		return relabel.Errorf(relabel.CodeInvalid, "is %q: relabel reads %s to %s", h.SchemaVersion, versions[0], Version).On("schema_version")
	case h.Agent.Name == "":
		return relabel.Errorf(relabel.CodeInvalid, "is missing").On("agent.name")
	case t.SubagentTrajectories != nil:
		return relabel.Errorf(relabel.CodeInvalid, "are not supported: import each as a document of its own").On("subagent_trajectories")
	case t.ContinuedTrajectory != "":
		return relabel.Errorf(relabel.CodeInvalid, "is not supported: the trajectory continues in another document, with another context").On("continued_trajectory_ref")
	}
	for i, tool := range h.Agent.ToolDefinitions {
		if tool.Type != "function" || tool.Function.Name == "" {
			return relabel.Errorf(relabel.CodeInvalid, "is not a function with a name").On(fmt.Sprintf("agent.tool_definitions[%d]", i))
		}
	}
	return nil
}

// decode reads one JSON value and refuses unknown fields.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalid(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return relabel.Errorf(relabel.CodeInvalid, "has more than one JSON value")
	}
	return nil
}

// invalid makes an error of package json one that names its field.
func invalid(err error) error {
	var own *relabel.Error
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &wrong):
		return relabel.Errorf(relabel.CodeInvalid, "is of another type (%s)", wrong.Value).On(wrong.Field).Because(err)
	}
	return relabel.Errorf(relabel.CodeInvalid, "is not valid: %v", err)
}

// at puts a path before the field of an error.
func at(path string, err error) error {
	e, ok := errors.AsType[*relabel.Error](err)
	switch {
	case !ok:
		return relabel.Errorf(relabel.CodeInvalid, "is not valid: %v", err).On(path)
	case e.Field == "":
		return e.On(path)
	}
	return e.On(path + "." + e.Field)
}

// ownFields reads relabel's fields of an extra object; nil if it has none.
func ownFields[T any](extra rawValue) (*T, error) {
	if extra == nil {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(extra, &fields); err != nil {
		return nil, invalid(err)
	}
	raw, ok := fields["relabel"]
	if !ok {
		return nil, nil
	}
	own := new(T)
	if err := decode(raw, own); err != nil {
		return nil, at("relabel", err)
	}
	return own, nil
}
