// Package atif writes and reads trajectories in the Agent Trajectory Interchange Format (ATIF) of the Harbor
// framework. It writes version 1.8, which is the newest of Harbor 0.26.0, and reads 1.0 to 1.8.
//
// A document that relabel wrote is read back without loss: what the format has no field for is in the
// objects named extra, under the key relabel.
package atif

import "slices"

// Version is the schema_version that Writer writes.
const Version = "ATIF-v1.8"

// versions are the schema versions that Read accepts.
var versions = []string{"ATIF-v1.0", "ATIF-v1.1", "ATIF-v1.2", "ATIF-v1.3", "ATIF-v1.4", "ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", Version}

func knownVersion(v string) bool { return slices.Contains(versions, v) }

// The objects of the format, with its names. An extra is an object of the writer's own fields.
type (
	// head has the fields before the steps.
	head struct {
		SchemaVersion string `json:"schema_version"`
		SessionID     text   `json:"session_id,omitempty"`
		TrajectoryID  text   `json:"trajectory_id,omitempty"`
		Agent         agent  `json:"agent"`
	}

	agent struct {
		Name            text             `json:"name"`
		Version         text             `json:"version"`
		ModelName       text             `json:"model_name,omitempty"`
		ToolDefinitions []toolDefinition `json:"tool_definitions,omitempty"`
		Extra           rawValue         `json:"extra,omitempty"`
	}

	// tail has the fields after the steps.
	tail struct {
		Notes                text          `json:"notes,omitempty"`
		FinalMetrics         *finalMetrics `json:"final_metrics,omitempty"`
		ContinuedTrajectory  text          `json:"continued_trajectory_ref,omitempty"`
		Extra                rawValue      `json:"extra,omitempty"`
		SubagentTrajectories rawValue      `json:"subagent_trajectories,omitempty"`
	}

	finalMetrics struct {
		PromptTokens     int      `json:"total_prompt_tokens"`
		CompletionTokens int      `json:"total_completion_tokens"`
		CachedTokens     int      `json:"total_cached_tokens"`
		CostUSD          *float64 `json:"total_cost_usd,omitempty"`
		Steps            int      `json:"total_steps"`
		Extra            rawValue `json:"extra,omitempty"`
	}

	step struct {
		StepID           int          `json:"step_id"`
		Timestamp        string       `json:"timestamp,omitempty"`
		Source           string       `json:"source"`
		ModelName        text         `json:"model_name,omitempty"`
		ReasoningEffort  rawValue     `json:"reasoning_effort,omitempty"`
		Message          content      `json:"message"`
		ReasoningContent text         `json:"reasoning_content,omitempty"`
		ToolCalls        []toolCall   `json:"tool_calls,omitempty"`
		Observation      *observation `json:"observation,omitempty"`
		Metrics          *metrics     `json:"metrics,omitempty"`
		IsCopiedContext  *bool        `json:"is_copied_context,omitempty"`
		LLMCallCount     *int         `json:"llm_call_count,omitempty"`
		Extra            rawValue     `json:"extra,omitempty"`
	}

	toolCall struct {
		ID           text     `json:"tool_call_id"`
		FunctionName text     `json:"function_name"`
		Arguments    rawValue `json:"arguments"`
		Extra        rawValue `json:"extra,omitempty"`
	}

	observation struct {
		Results []result `json:"results"`
	}

	result struct {
		SourceCallID text     `json:"source_call_id,omitempty"`
		Content      content  `json:"content,omitempty"`
		Subagents    rawValue `json:"subagent_trajectory_ref,omitempty"`
		Extra        rawValue `json:"extra,omitempty"`
	}

	metrics struct {
		PromptTokens       *int      `json:"prompt_tokens,omitempty"`
		CompletionTokens   *int      `json:"completion_tokens,omitempty"`
		CachedTokens       *int      `json:"cached_tokens,omitempty"`
		CostUSD            *float64  `json:"cost_usd,omitempty"`
		PromptTokenIDs     []int32   `json:"prompt_token_ids,omitempty"`
		CompletionTokenIDs []int32   `json:"completion_token_ids,omitempty"`
		Logprobs           []float32 `json:"logprobs,omitempty"`
		Extra              rawValue  `json:"extra,omitempty"`
	}
)

// toolDefinition describes a tool as OpenAI's function calling does.
type toolDefinition struct {
	Type     string       `json:"type"`
	Function functionTool `json:"function"`
}

type functionTool struct {
	Name        text     `json:"name"`
	Description text     `json:"description"`
	Parameters  rawValue `json:"parameters,omitempty"`
}

// The sources of a step.
const (
	sourceSystem = "system"
	sourceUser   = "user"
	sourceAgent  = "agent"
)
