package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
	"relabel/atif"
)

// mostDocument bounds one document of an import, in bytes.
const mostDocument = 256 << 20

func (s *site) addTrajectoryImport() {
	op := operation(http.MethodPost, "/v1/trajectories/import", "trajectories", "import-trajectories", "Import trajectories",
		"Reads trajectories of other harnesses, or of another relabel, as a new run with one iteration and a taskset of the same name. The body has a document of the Agent Trajectory Interchange Format per line. "+
			"The labels of trajectories of other harnesses are missing: relabel the iteration to ask a teacher. Everything is stored, or nothing.")
	op.RequestBody = &huma.RequestBody{Required: true, Description: "Documents in ATIF, one per line.",
		Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}, "application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	add(s, op, s.importTrajectories)
}

func (s *site) importTrajectories(ctx context.Context, in *api.ImportQuery) (*of[api.ImportedTrajectories], error) {
	if err := checkNewName(in.Name); err != nil {
		return nil, err
	}
	student, err := s.findPolicy(ctx, in.Student)
	if err != nil {
		return nil, asField(err, "student")
	}
	teacher, err := s.findPolicy(ctx, in.Teacher)
	if err != nil {
		return nil, asField(err, "teacher")
	}
	upload, digest := uploadOf(ctx)
	if upload.Size() == 0 {
		return nil, relabel.Errorf(api.CodeMalformed, "the request has no body; send documents in ATIF, one per line")
	}
	leave, err := s.bodies.beginImport(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	i := &importing{name: in.Name, student: student, teacher: teacher, source: untilDone{ctx, upload}}
	answer, err := i.check()
	if err != nil {
		return nil, err
	}
	run := i.run(digest)
	if err := s.Store.ImportRun(ctx, run, i.trajectories()); err != nil {
		return nil, err
	}
	answer.Iteration = run.Iteration.ID
	answer.Run, err = s.Store.FindRun(ctx, run.Run.ID)
	return one(answer, err)
}

// importing reads an upload of documents, twice: to check it, and to store it.
type importing struct {
	name             string
	student, teacher relabel.Policy
	source           untilDone
	prompts          relabel.Prompts // of all documents
	maxTurns, count  int
	ids              map[string]relabel.ID // of tasks, by instance
}

// check reads all documents and counts what they have.
func (i *importing) check() (sum api.ImportedTrajectories, err error) {
	sum.Ignored = map[string]int{}
	i.ids = map[string]relabel.ID{}
	for t, err := range i.read(sum.Ignored) {
		if err != nil {
			return sum, err
		}
		sum.Trajectories++
		sum.Turns += len(t.Turns)
		for _, turn := range t.Turns {
			if turn.Label.Status == relabel.Received {
				sum.Labels++
			}
		}
		i.maxTurns = max(i.maxTurns, len(t.Turns))
	}
	sum.Tasks, i.count = len(i.ids), sum.Trajectories
	if sum.Trajectories == 0 {
		return sum, relabel.Errorf(relabel.CodeInvalid, "has no document").On("body")
	}
	return sum, nil
}

// run is the run of the documents, after check.
func (i *importing) run(digest string) relabel.ImportedRun {
	set := relabel.Taskset{ID: relabel.NewID(), Name: i.name, Digest: digest, Kind: relabel.Repair}
	limits := relabel.Repair.DefaultLimits()
	limits.MaxTurns = max(limits.MaxTurns, i.maxTurns)
	run := relabel.Run{ID: relabel.NewID(), Name: i.name, Recipe: relabel.DAgger, Scaffold: relabel.ScaffoldImported, TaskKind: relabel.Repair, Prompts: i.prompts,
		TasksetID: set.ID, TasksetRevision: 1, TeacherID: i.teacher.ID, Labels: relabel.LabelsDeferred, LabelRule: relabel.LabelAll, Limits: limits, Verify: relabel.VerifyNone,
		Beta: &relabel.BetaSchedule{Kind: "constant"}}
	it := relabel.Iteration{ID: relabel.NewID(), RunID: run.ID, Number: 1, Kind: relabel.Collect, StudentID: i.student.ID}
	return relabel.ImportedRun{Taskset: set, Run: run, Iteration: it, Trajectories: i.count}
}

func (i *importing) trajectories() iter.Seq2[relabel.ImportedTrajectory, error] {
	return i.read(map[string]int{})
}

// read yields the trajectory of each line, and counts in ignored what is not kept. An error names the line.
func (i *importing) read(ignored map[string]int) iter.Seq2[relabel.ImportedTrajectory, error] {
	return func(yield func(relabel.ImportedTrajectory, error) bool) {
		lines := bufio.NewReaderSize(io.NewSectionReader(i.source, 0, i.source.Size()), 1<<20)
		seen := map[string][sha256.Size]byte{} // the hash of the problem statement, by instance
		generations := map[string]int{}
		for line := 1; ; line++ {
			doc, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				return
			}
			var t relabel.ImportedTrajectory
			if err == nil && len(bytes.TrimSpace(doc)) == 0 {
				continue
			}
			if err == nil {
				t, err = i.trajectory(doc, line, ignored)
			}
			if err == nil {
				err = i.place(&t, seen, generations)
			}
			if err != nil {
				err = onLine(line, err)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// onLine names the line of a document's error.
func onLine(line int, err error) error {
	e, ok := errors.AsType[*relabel.Error](err)
	switch {
	case !ok:
		return err
	case e.Field == "":
		return e.On(fmt.Sprintf("line %d", line))
	}
	return e.On(fmt.Sprintf("line %d: %s", line, e.Field))
}

// place numbers the trajectory among those of its task.
func (i *importing) place(t *relabel.ImportedTrajectory, seen map[string][sha256.Size]byte, generations map[string]int) error {
	name := t.Task.InstanceID
	statement := sha256.Sum256([]byte(t.Task.ProblemStatement))
	if first, again := seen[name]; again && first != statement {
		return relabel.Errorf(relabel.CodeInvalid, "an earlier document has the same instance or trajectory id, %q, with another first user message", name).On("trajectory_id")
	}
	if _, ok := i.ids[name]; !ok {
		i.ids[name] = relabel.NewID()
	}
	t.Task.ID = i.ids[name]
	seen[name] = statement
	t.Generation = generations[name]
	generations[name]++
	return nil
}

// readLine reads a line within mostDocument.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var doc []byte
	for {
		piece, err := lines.ReadSlice('\n')
		doc = append(doc, piece...)
		switch {
		case len(doc) > mostDocument:
			return nil, relabel.Errorf(relabel.CodeInvalid, "is larger than %d MiB", mostDocument>>20).On("document")
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(doc) > 0:
			return doc, nil
		}
		return doc, err
	}
}

// trajectory reads the document of a line.
func (i *importing) trajectory(doc []byte, line int, ignored map[string]int) (t relabel.ImportedTrajectory, err error) {
	r, err := atif.Read(doc)
	if err != nil {
		return t, err
	}
	for field, n := range r.Ignored {
		ignored[field] += n
	}
	t = relabel.ImportedTrajectory{ID: relabel.NewID(), Turns: r.Turns, Ending: relabel.Ending{Reason: relabel.EndFinish}}
	t.Task = relabel.Task{Kind: relabel.Repair, InstanceID: cmp.Or(r.TrajectoryID, r.SessionID, fmt.Sprintf("line-%d", line))}
	if r.Own != nil {
		t.Task.InstanceID = r.Own.Trajectory.InstanceID
	}
	if err := checkInstance(t.Task.InstanceID); err != nil {
		return t, err
	}
	if err := i.open(r, &t.Task); err != nil {
		return t, err
	}
	if r.Own != nil {
		return t, i.addOwn(&t, r.Own, ignored)
	}
	for n := range t.Turns {
		turn := &t.Turns[n]
		turn.EndedAt = turn.StartedAt
		turn.Action.PolicyID = i.student.ID
		turn.Label = &relabel.Action{PolicyID: i.teacher.ID, Status: relabel.Missing, Reason: relabel.NotAsked}
	}
	return t, nil
}

// mostInstance bounds the id of an instance, in bytes.
const mostInstance = 500

// checkInstance refuses an id that cannot be stored, or that is not a name.
func checkInstance(id string) error {
	if id == "" || len(id) > mostInstance || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return relabel.Errorf(relabel.CodeInvalid, "is the instance of the task: it must be one line of UTF-8 of at most %d bytes", mostInstance).On("trajectory_id")
	}
	return nil
}

// open reads the messages before the first turn. All documents have the same system message and tools, which a
// run has once.
func (i *importing) open(r atif.Record, task *relabel.Task) error {
	opening, prompts := r.Opening, relabel.Prompts{First: "{problem_statement}", Tools: r.Tools}
	if len(opening) > 0 && opening[0].Role == relabel.RoleSystem {
		prompts.System, opening = opening[0].Content, opening[1:]
	}
	switch {
	case len(opening) != 1 || opening[0].Role != relabel.RoleUser:
		return relabel.Errorf(relabel.CodeInvalid, "must begin with at most one system message and one user message").On("steps")
	case i.prompts.First == "":
		i.prompts = prompts
	case prompts.System != i.prompts.System:
		return relabel.Errorf(relabel.CodeInvalid, "has another system message than the first document: import it as another run").On("steps[0].message")
	case !slices.Equal(prompts.Tools, i.prompts.Tools):
		return relabel.Errorf(relabel.CodeInvalid, "are others than those of the first document: import it as another run").On("agent.tool_definitions")
	}
	task.ProblemStatement = opening[0].Content
	return nil
}
