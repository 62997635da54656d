package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relabel"
)

// Report is the result of Probe.
type Report struct {
	Policy     string             `json:"policy"`
	BaseURL    string             `json:"base_url"`
	Model      string             `json:"model"`
	Server     relabel.ServerKind `json:"server"`
	ToolFormat relabel.ToolFormat `json:"tool_format"`
	Reachable  bool               `json:"reachable"` // it answered over HTTP, with any status
	Findings   []Finding          `json:"findings"`
	Advice     []string           `json:"advice,omitempty"`
	// Suggested is the policy with the suggested changes; nil without any.
	Suggested     *relabel.Policy `json:"-"`
	ContextTokens int             `json:"context_tokens,omitempty"` // 0 if unknown
	LatencyMillis int64           `json:"latency_millis"`           // of the first answer
	Requests      int             `json:"requests"`                 // that were sent
	Problem       string          `json:"problem,omitempty"`        // why the probe ended early
}

// Finding is the answer to one question.
type Finding struct {
	Question Question `json:"question"`
	Answer   Answer   `json:"answer"`
	Detail   string   `json:"detail,omitempty"`
}

// Question is one question about an endpoint.
type Question string

// The questions.
const (
	AskReachable Question = "reachable"
	AskReplicas  Question = "replicas"       // do the policy's further addresses answer?
	AskModel     Question = "model"          // is the policy's model served?
	AskNative    Question = "native calls"   // are calls parsed if tools are sent as tools?
	AskText      Question = "text calls"     // are calls written as the prompt describes, with tool_format text?
	AskTwo       Question = "two calls"      // at once, in one answer
	AskHistory   Question = "call history"   // is a state with calls and results accepted?
	AskBroken    Question = "broken history" // one with arguments that are not JSON?
	AskReasoning Question = "reasoning"      // is there any, and where?
	AskIDs       Question = "token ids"      // sampled
	AskPromptIDs Question = "prompt ids"     //
	AskLogprobs  Question = "logprobs"       //
	AskUsage     Question = "usage"          // token counts
	AskN         Question = "n"              // several answers to one request
	AskSeed      Question = "seed"           // the same answer twice
	AskContext   Question = "context"        // its length
	AskSampler   Question = "sampler"        // does every request name all settings?
)

// questions is the order of the report.
var questions = []Question{AskReachable, AskReplicas, AskModel, AskNative, AskText, AskTwo, AskHistory, AskBroken, AskReasoning,
	AskIDs, AskPromptIDs, AskLogprobs, AskUsage, AskN, AskSeed, AskContext, AskSampler}

// Answer is a finding in a word; Detail has more.
type Answer string

// The answers.
const (
	Yes       Answer = "yes"
	No        Answer = "no"
	Refused   Answer = "refused"    // with an error
	Busy      Answer = "busy"       // retry later
	Raw       Answer = "raw text"   // calls are in the content and are read from it
	NoCall    Answer = "no call"    // the model called no tool
	NotGiven  Answer = "not given"  // requested and accepted, but not in the answer
	NotSaid   Answer = "not said"   //
	Unclear   Answer = "unclear"    // the answers show neither
	Pinned    Answer = "pinned"     // every request has all settings of the sampler
	Partly    Answer = "partly"     // the server decides some of them
	InField   Answer = "apart"      // reasoning in a separate field
	InContent Answer = "in content" // reasoning between think tags, which relabel separates
)

// Found returns the answer to a question; "" if the probe did not ask it.
func (r Report) Found(q Question) Answer {
	for _, f := range r.Findings {
		if f.Question == q {
			return f.Answer
		}
	}
	return ""
}

func (r *Report) found(q Question, a Answer, detail string) {
	r.Findings = append(r.Findings, Finding{q, a, detail})
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return slices.Index(questions, a.Question) - slices.Index(questions, b.Question)
	})
}

// String is the report as a table for a terminal, without the command that would change the policy.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s at %s (server: %s, tools: %s)\n", r.Policy, r.Model, r.BaseURL, r.Server, r.ToolFormat)
	for _, f := range r.Findings {
		line := fmt.Sprintf("  %-15s %-11s %s", f.Question, f.Answer, f.Detail)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if r.LatencyMillis > 0 || r.Requests > 0 {
		fmt.Fprintf(&b, "  %-15s %s for the first answer, %d requests in all\n", "latency", time.Duration(r.LatencyMillis)*time.Millisecond, r.Requests)
	}
	if r.Problem != "" {
		fmt.Fprintf(&b, "  %-15s %s\n", "problem", r.Problem)
	}
	if len(r.Advice) > 0 {
		b.WriteString("\nWhat to change:\n  - " + strings.Join(r.Advice, "\n  - ") + "\n")
	}
	return b.String()
}
