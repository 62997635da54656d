package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
	"relabel/atif"
)

// atifTurns is the number of turns that are in memory at a time while a document is written.
const atifTurns = 50

func (s *site) addATIF() {
	op := operation(http.MethodGet, "/v1/trajectories/{id}/atif", "trajectories", "show-atif", "Show a trajectory as ATIF",
		"The current attempt as a document of the Agent Trajectory Interchange Format ("+atif.Version+"), on one line: system prompt, tools, a step per message and turn, token ids, logprobs, tokens and costs. "+
			"What the format has no field for, such as the teacher's label at each turn, is under relabel in the objects named extra.")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The document.",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, Description: "A trajectory in ATIF."}}},
	}}
	add(s, op, s.showATIF)
}

func (s *site) showATIF(ctx context.Context, in *struct {
	IDPath
	api.ATIFQuery
}) (*huma.StreamResponse, error) {
	record, err := s.atifRecord(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	list := s.Store.ListTurns
	if in.PromptTokenIDs {
		list = s.Store.ListPromptedTurns
	}
	next := func(ctx context.Context, from int) ([]relabel.Turn, error) { return list(ctx, in.ID, from, atifTurns) }
	first, err := next(ctx, 1)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		answer.SetHeader("Content-Type", "application/json")
		if err := writeATIF(answer, record, first, next); err != nil {
			noteCause(answer.Context(), err)
			panic(http.ErrAbortHandler) // its reader must see that it is not whole
		}
	}}, nil
}

// writeATIF writes a document of which the first page of turns has been read; next reads the pages after it.
func writeATIF(answer huma.Context, record atif.Record, page []relabel.Turn, next func(context.Context, int) ([]relabel.Turn, error)) error {
	w, err := atif.NewWriter(answer.BodyWriter(), record)
	if err != nil {
		return err
	}
	for t := 1; t <= record.Own.Trajectory.Turns; {
		for _, turn := range page {
			if err := w.Turn(turn); err != nil {
				return err
			}
		}
		if t += len(page); t > record.Own.Trajectory.Turns {
			break
		}
		if page, err = next(answer.Context(), t); err != nil {
			return err
		}
		if len(page) == 0 {
			return relabel.Errorf(relabel.CodeConflict, "the trajectory started again while it was read")
		}
	}
	return w.Close()
}

// atifRecord reads everything but the turns.
func (s *site) atifRecord(ctx context.Context, id relabel.ID) (r atif.Record, err error) {
	own := &atif.Own{}
	if own.Trajectory, err = s.Store.FindTrajectory(ctx, id); err != nil {
		return r, err
	}
	run, err := s.Store.FindRun(ctx, own.Trajectory.RunID)
	if err != nil {
		return r, err
	}
	task, err := s.Store.FindTaskOf(ctx, id)
	if err != nil {
		return r, err
	}
	if own.Patch, err = s.Store.FindPatch(ctx, id); err != nil && relabel.CodeOf(err) != relabel.CodeNotFound {
		return r, err
	}
	if err := s.addPolicyRefs(ctx, own, run); err != nil {
		return r, err
	}
	own.Run = atif.RunRef{ID: run.ID, Name: run.Name, Recipe: run.Recipe, Scaffold: run.Scaffold}
	r = atif.Record{Own: own, AgentName: run.Scaffold, AgentVersion: atif.AgentVersion(run.Prompts), SessionID: id.String(),
		TrajectoryID: fmt.Sprintf("%s/%d", id, own.Trajectory.Trail), Opening: run.Prompts.Opening(task), Tools: run.Prompts.Tools}
	for _, p := range []*atif.PolicyRef{own.Student, own.Teacher} {
		if p != nil {
			r.Model = p.Model
			break
		}
	}
	return r, nil
}

// addPolicyRefs adds the student of the trajectory's iteration and the run's teacher.
func (s *site) addPolicyRefs(ctx context.Context, own *atif.Own, run relabel.Run) error {
	it, _, err := s.Store.FindIteration(ctx, own.Trajectory.IterationID)
	if err != nil {
		return err
	}
	student, err := s.Store.FindPolicy(ctx, it.StudentID)
	if err != nil {
		return err
	}
	own.Student = atif.Policy(student)
	if !run.HasTeacher() {
		return nil
	}
	teacher, err := s.Store.FindPolicy(ctx, run.TeacherID)
	own.Teacher = atif.Policy(teacher)
	return err
}
