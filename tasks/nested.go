package tasks

import (
	"bytes"
	"encoding/json"
)

// nestedField has the task of a row of NeMo Gym and Nemotron: a JSON text with the row of another data set.
const nestedField = "instance_dict"

// nested returns the row within a row of NeMo Gym, nil if there is none. It refuses rows of such sets that hold no task.
func (l *taskLine) nested() *taskLine {
	raw := l.fields[nestedField]
	if params, ok := l.fields["responses_create_params"]; ok && raw == nil {
		raw = memberOf(memberOf(params, "metadata"), nestedField)
	}
	switch {
	case raw == nil && (l.has("expected_action") || l.has("pivot_tags")):
		l.refuse("", "is a step to imitate, not a task: it has no tests")
	case raw == nil && l.has("responses_create_params"):
		l.refuse("responses_create_params", "holds no task: metadata.%s is missing", nestedField)
	case raw == nil && !l.has("patch") && (l.has("trajectory") || l.has("messages")):
		l.refuse("", "is a trajectory, not a task: it has no tests")
	}
	if raw == nil {
		return nil
	}
	l.used[nestedField], l.used["responses_create_params"] = true, true
	if raw[0] == '"' {
		raw = bytes.TrimSpace([]byte(unquote(raw)))
	}
	fields, wrong := parseObject(append([]byte(nil), raw...))
	if wrong != "" || len(raw) == 0 {
		l.refuse(nestedField, "%s", wrong)
		return nil
	}
	for name := range fields { // NeMo Gym repeats them outside
		l.used[name] = true
	}
	return newTaskLine(l.place, fields)
}

// memberOf returns the value of a name in a JSON object, nil if it has none.
func memberOf(raw json.RawMessage, name string) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	fields, _ := parseObject(raw)
	if value := fields[name]; !bytes.Equal(value, []byte("null")) {
		return value
	}
	return nil
}
