package api

import "relabel"

// Problem is the body of every error (RFC 9457), with a stable code.
type Problem struct {
	Type   string         `json:"type" doc:"URN of the kind of problem: urn:relabel:problem: and the code."`
	Title  string         `json:"title" doc:"The HTTP status in words."`
	Status int            `json:"status" doc:"The HTTP status."`
	Code   relabel.Code   `json:"code" doc:"Stable, machine-readable reason. New codes may be added; codes are never renamed."`
	Detail string         `json:"detail" doc:"Description of the problem, for people."`
	Field  string         `json:"field,omitempty" doc:"The first invalid field, parameter, line or file, if known."`
	Errors []ProblemField `json:"errors,omitempty" doc:"All errors if there are several, at most 100."`
}

// ProblemField says what is wrong with one part of the input.
type ProblemField struct {
	Location string `json:"location,omitempty" doc:"Location: body.limits.max_turns, query.limit, path.id, or a line of a file."`
	Message  string `json:"message" doc:"Description of the error, for people."`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType makes the body problem+json.
func (p *Problem) ContentType(string) string { return "application/problem+json" }
