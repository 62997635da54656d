package atif

import (
	"time"

	"relabel/chat"
)

// The fields of a trial's result.json that Harbor's viewer shows or needs.
type (
	trialResult struct {
		ID             string         `json:"id"`
		TaskName       text           `json:"task_name"`
		TrialName      text           `json:"trial_name"`
		TrialURI       string         `json:"trial_uri"`
		TaskID         trialTask      `json:"task_id"`
		TaskChecksum   string         `json:"task_checksum"`
		Config         trialConfig    `json:"config"`
		AgentInfo      trialAgent     `json:"agent_info"`
		AgentResult    *trialTokens   `json:"agent_result,omitempty"`
		VerifierResult *trialVerifier `json:"verifier_result,omitempty"`
		StartedAt      *time.Time     `json:"started_at,omitempty"`
		FinishedAt     *time.Time     `json:"finished_at,omitempty"`
	}

	trialTask struct {
		Path text `json:"path"`
	}

	trialConfig struct {
		Task      trialTask `json:"task"`
		TrialName text      `json:"trial_name"`
	}

	trialAgent struct {
		Name      text        `json:"name"`
		Version   text        `json:"version"`
		ModelInfo *trialModel `json:"model_info,omitempty"`
	}

	trialModel struct {
		Name text `json:"name"`
	}

	trialTokens struct {
		Input  int      `json:"n_input_tokens"`
		Cached int      `json:"n_cache_tokens"`
		Output int      `json:"n_output_tokens"`
		Cost   *float64 `json:"cost_usd,omitempty"`
	}

	trialVerifier struct {
		Rewards map[string]float64 `json:"rewards"`
	}
)

// JobConfig is the config.json of a job, by which Harbor's viewer knows a folder of jobs.
func JobConfig(name string) []byte {
	return append(chat.AppendString([]byte(`{"job_name":`), name), '}')
}

// TrialFiles are the files beside the document of r, a trajectory of relabel, with which Harbor's viewer and Docent
// show it as the trial of a job: config.json and result.json. The reward is the score of a task that has one, else 1 for a resolved trajectory and 0 for
// one that is not; without a verdict there is none.
func TrialFiles(r Record, name string) (map[string][]byte, error) {
	t := r.Own.Trajectory
	task := trialTask{text(t.InstanceID)}
	result := trialResult{ID: t.ID.String(), TaskName: text(t.InstanceID), TrialName: text(name), TaskID: task, Config: trialConfig{task, text(name)},
		AgentInfo: trialAgent{Name: text(r.AgentName), Version: text(r.AgentVersion)}, StartedAt: t.StartedAt, FinishedAt: t.EndedAt}
	if r.Model != "" {
		result.AgentInfo.ModelInfo = &trialModel{text(r.Model)}
	}
	tokens := trialTokens{}
	for _, turn := range r.Turns {
		if u := turn.Action.Usage; u != nil {
			tokens.Input += u.PromptTokens
			tokens.Cached += u.CachedTokens
			tokens.Output += u.CompletionTokens
		}
		if cost := r.Own.costUSD(turn.Action.PolicyID, turn.Action.Usage); cost != nil {
			tokens.Cost = new(*cost + dollars(tokens.Cost))
		}
	}
	result.AgentResult = &tokens
	if reward, ok := rewardOf(r); ok {
		result.VerifierResult = &trialVerifier{map[string]float64{"reward": reward}}
	}
	written, err := encode(result)
	if err != nil {
		return nil, err
	}
	config, err := encode(result.Config)
	return map[string][]byte{"result.json": written, "config.json": config}, err
}

func rewardOf(r Record) (reward float64, ok bool) {
	switch t := r.Own.Trajectory; {
	case t.Score != nil:
		return *t.Score, true
	case t.Resolved == nil:
		return 0, false
	case *t.Resolved:
		return 1, true
	}
	return 0, true
}
