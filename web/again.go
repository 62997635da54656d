package web

import (
	"fmt"
	"net/http"
	"strings"

	"relabel"
)

// againView says how a task is rolled out once more as it was here.
type againView struct{ Command, Curl string }

// again is the command, and the request, that rolls the trajectory's task out with the
// same student and mixture, in a new iteration of the run.
func (v trajectoryView) again(r *http.Request) againView {
	body := struct {
		Student   string                `json:"student"`
		Kind      relabel.IterationKind `json:"kind,omitempty"`
		Beta      *float64              `json:"beta,omitempty"`
		Instances []string              `json:"instances"`
	}{Student: v.Student, Kind: v.Iteration.Kind, Beta: v.Iteration.Beta, Instances: []string{v.InstanceID}}
	command := fmt.Sprintf("relabel run iterate %s --student %s --instance %s", word(v.Run.Name), word(v.Student), word(v.InstanceID))
	if v.Iteration.Kind == relabel.Evaluate {
		command += " --kind evaluate"
	}
	if v.Iteration.Beta != nil {
		command += fmt.Sprintf(" --beta %g", *v.Iteration.Beta)
	}
	return againView{Command: command, Curl: call{Method: http.MethodPost, Path: "/v1/runs/" + v.RunID.String() + "/iterations", Body: body}.curl(r)}
}

// word writes a text as one word of a shell, in quotes where it needs them.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-@./:") == "" {
		return s
	}
	return quoted(s)
}
