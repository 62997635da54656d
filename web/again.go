package web

import (
	"fmt"
	"net/http"
	"strings"

	"relabel"
	"relabel/api"
)

// againView is how to roll the task out again with the same student and mixture.
type againView struct{ Command, Curl string }

// again returns the command and the request for a new iteration of this task alone.
func (v trajectoryView) again(r *http.Request) againView {
	body := api.NewIteration{Student: v.Student, Kind: v.Iteration.Kind, Beta: v.Iteration.Beta, Instances: []string{v.InstanceID}}
	command := fmt.Sprintf("relabel run iterate %s --student %s --instance %s", word(v.Run.Name), word(v.Student), word(v.InstanceID))
	if v.Iteration.Kind != relabel.Collect {
		command += " --kind " + string(v.Iteration.Kind)
	}
	if v.Iteration.Beta != nil {
		command += fmt.Sprintf(" --beta %g", *v.Iteration.Beta)
	}
	return againView{Command: command, Curl: call{Method: http.MethodPost, Path: "/v1" + runPath(v.RunID) + "/iterations", Body: body}.curl(r)}
}

// word quotes a text for a shell where necessary.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-@./:") == "" {
		return s
	}
	return quoted(s)
}
