package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"relabel"
)

// gzipped is a log as a request has it.
func gzipped(log string) string {
	return base64.StdEncoding.EncodeToString(relabel.PackLog([]byte(log), relabel.MaxValidationLog))
}

func TestValidationsAreStoredAndTasksExcludedOverPostgres(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	lines := fmt.Sprintf(taskLine, "a") + "\n" + fmt.Sprintf(taskLine, "b") + "\n" + fmt.Sprintf(taskLine, "c")
	s.want(201, s.post("/v1/tasksets?name=mine", lines))
	var listed struct {
		Items []relabel.Task
	}
	if err := json.Unmarshal(s.want(200, s.get("/v1/tasksets/mine/tasks")).body, &listed); err != nil {
		t.Fatal(err)
	}
	task := listed.Items[0]
	run := func(patch string, passed bool, log string) string {
		if log != "" {
			log = fmt.Sprintf(`,"log":%q`, log)
		}
		return fmt.Sprintf(`{"patch":%q,"number":1,"passed":%v,"steady":%v,"reason":"tests","not_passed":0,"millis":1500,"log_bytes":0%s}`, patch, passed, passed, log)
	}
	body := func(state, rest, runs string) string {
		return fmt.Sprintf(`{"task_id":%q,"times":1,"verify_seconds":60,"state":%q%s,"runs":[%s]}`, task.ID, state, rest, runs)
	}
	sound := run("gold", true, gzipped("all passed")) + "," + run("empty", false, gzipped("one failed"))
	a := s.want(201, s.post("/v1/tasksets/mine/validations", body("sound", "", sound)))
	id := a.fieldText("id")
	if log := s.want(200, s.get("/v1/validations/"+id+"/log?patch=empty&number=1")); log.fieldText("log") != "one failed" {
		t.Errorf("the log: %s", log.body)
	}
	s.want(404, s.get("/v1/validations/"+id+"/log?patch=empty&number=2"))
	if n := s.want(200, s.get("/v1/tasksets/mine/soundness")); n.field("sound") != 1.0 || n.field("unvalidated") != 2.0 || n.field("run_seconds", "p50") != 1.5 {
		t.Errorf("the counts: %s", n.body)
	}
	for field, wrong := range map[string]string{
		"runs[0].log":    body("sound", "", run("gold", true, base64.StdEncoding.EncodeToString([]byte("no gzip")))),
		"runs[1].number": body("sound", "", run("gold", true, "")+","+run("gold", true, "")),
		"reason":         body("broken", "", ""),
		"flaky":          body("flaky", `,"reason":"flaky_tests","problem":"p"`, ""),
	} {
		s.refused(s.post("/v1/tasksets/mine/validations", wrong), 422, "invalid", field)
	}
	large := strings.Repeat("x", relabel.MaxValidationLog+1)
	bomb := base64.StdEncoding.EncodeToString(relabel.PackLog([]byte(large), 2*relabel.MaxValidationLog))
	s.refused(s.post("/v1/tasksets/mine/validations", body("sound", "", run("gold", true, bomb))), 422, "invalid", "runs[0].log")

	set := s.want(200, s.post("/v1/tasksets/mine/exclude", `{"tasks":[{"instance_id":"b","reason":"the gold patch fails"}]}`))
	if set.field("revision") != 2.0 || set.field("excluded") != 1.0 || set.field("tasks") != 3.0 {
		t.Errorf("the set: %s", set.body)
	}
	s.refused(s.post("/v1/tasksets/mine/exclude", `{"tasks":[{"instance_id":"x","reason":"r"}]}`), 422, "invalid", "tasks[0]")
	s.refused(s.post("/v1/tasksets/mine/include", `{"instances":["a"]}`), 422, "invalid", "instances[0]")
	s.refused(s.post("/v1/tasksets/mine/drop-flaky", `{}`), 422, "invalid", "instances")
	if old := s.want(200, s.get("/v1/tasksets/mine?revision=1")); old.field("excluded") != 0.0 {
		t.Errorf("revision 1: %s", old.body)
	}
	s.want(404, s.get("/v1/tasksets/mine/tasks?revision=9"))
	s.want(201, s.post("/v1/policies", `{"name":"teacher","base_url":"http://127.0.0.1:1/v1","model":"t"}`))
	draw := s.want(201, s.post("/v1/runs", `{"name":"r","recipe":"dagger","taskset":"mine","teacher":"teacher"}`))
	if draw.field("taskset_revision") != 2.0 {
		t.Errorf("the run: %s", draw.body)
	}
	s.refused(s.post("/v1/runs", `{"name":"q","recipe":"dagger","taskset":"mine","teacher":"teacher","instances":["b"]}`), 422, "invalid", "instances[0]")
	if view := s.want(200, s.get("/v1/runs/r")); view.field("taskset", "excluded") != 1.0 || view.field("excluded", 0, "reason") != "the gold patch fails" {
		t.Errorf("the run: %s", view.body)
	}
	s.want(201, s.post("/v1/runs/r/iterations", `{"student":"teacher"}`))
	if drawn := s.want(200, s.get("/v1/trajectories?run=r")); len(drawn.field("items").([]any)) != 2 {
		t.Errorf("drawn: %s", drawn.body)
	}
	if b := s.want(201, s.post("/v1/benchmarks", `{"name":"all","taskset":"mine","all":true}`)); b.field("excluded", 0, "instance_id") != "b" || b.field("tasks") != 2.0 || b.field("taskset_revision") != 2.0 {
		t.Errorf("the benchmark: %s", b.body)
	}
	s.refused(s.post("/v1/benchmarks", `{"name":"one","taskset":"mine","instances":["b"]}`), 422, "invalid", "instances[0]")
	if back := s.want(200, s.post("/v1/tasksets/mine/include", `{"instances":["b"]}`)); back.field("revision") != 3.0 || back.field("excluded") != 0.0 {
		t.Errorf("included: %s", back.body)
	}
}
