package taskbuild

import "relabel"

// Line is a task as a line of a task file in relabel's own format.
type Line struct {
	InstanceID       string   `json:"instance_id"`
	Repo             string   `json:"repo"`
	BaseCommit       string   `json:"base_commit"`
	Image            string   `json:"image"`
	Workdir          string   `json:"workdir"`
	ProblemStatement string   `json:"problem_statement"`
	HintsText        string   `json:"hints_text"`
	Patch            string   `json:"patch"`
	TestPatch        string   `json:"test_patch"`
	TestCmd          string   `json:"test_cmd"`
	LogParser        string   `json:"log_parser"`
	FailToPass       []string `json:"FAIL_TO_PASS"`
	PassToPass       []string `json:"PASS_TO_PASS"`
	CreatedAt        string   `json:"created_at,omitempty"` // RFC 3339
}

// task returns the line as a task to run.
func (l Line) task() relabel.Task {
	return relabel.Task{
		Kind: relabel.Repair, InstanceID: l.InstanceID, Repo: l.Repo, BaseCommit: l.BaseCommit, Image: l.Image, Workdir: l.Workdir,
		ProblemStatement: l.ProblemStatement, HintsText: l.HintsText, Patch: l.Patch, TestPatch: l.TestPatch,
		TestCmd: l.TestCmd, LogParser: l.LogParser, FailToPass: l.FailToPass, PassToPass: l.PassToPass,
	}
}
