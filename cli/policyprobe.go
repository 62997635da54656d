package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"relabel"
	"relabel/safetext"
)

// probe tests what an endpoint supports, from this machine and with its secrets.
func (c *DoctorCommand) probe(ctx context.Context, p *Ports) error {
	return c.With(ctx, func(cl *Session) error {
		policy, err := FindPolicy(ctx, cl, c.Policy)
		if err != nil {
			return err
		}
		report, err := p.Probe(ctx, policy, c.SecretFlags)
		if report.Fields == nil {
			return err
		}
		if printed := c.print(report); printed != nil {
			return printed
		}
		return err
	})
}

// print prints the report with the command that applies its suggestions.
func (c *DoctorCommand) print(report ProbeReport) error {
	command := ""
	if report.Suggested != nil {
		command = addCommand(*report.Suggested)
	}
	if c.JSON {
		return printJSON(report.Fields(command))
	}
	fmt.Print(safetext.Terminal(report.Text))
	if command != "" {
		fmt.Printf("\nThe next version with that in it:\n  %s\n", safetext.Terminal(command))
	}
	return nil
}

// addCommand returns the shell command that registers p as the next version of its name,
// without defaults.
func addCommand(p relabel.Policy) string {
	words := []string{"relabel", "policy", "add", p.Name}
	for _, s := range settingsOf(p) {
		if s.value != s.usual {
			words = append(words, "--"+s.flag, fmt.Sprint(s.value))
		}
	}
	if l := p.Sampling.Logprobs; l != nil && *l != (relabel.Sampling{}.Pinned(p.Server).Logprobs != nil) {
		words = append(words, map[bool]string{true: "--logprobs", false: "--no-logprobs"}[*l])
	}
	if p.TemplateText != "" { // the user has the file
		words = append(words, "--chat-template", "FILE")
	}
	words = append(words, trainingFlags(p)...)
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// setting is the value of a flag of `relabel policy add`; usual is the flag's default.
type setting struct {
	flag         string
	value, usual any
}

// settingsOf returns the settings of a policy in the order of the flags.
func settingsOf(p relabel.Policy) []setting {
	settings := []setting{{"base-url", p.BaseURL, ""}, {"model", p.Model, ""}}
	for _, r := range p.Replicas {
		settings = append(settings, setting{"replica", r, ""})
	}
	l, usual := p.Limits, relabel.DefaultPolicyLimits
	settings = append(settings,
		setting{"server-kind", p.Server, relabel.ServerGeneric},
		setting{"tool-format", p.ToolFormat, relabel.ToolsNative},
		setting{"secret", p.Secret, ""},
		setting{"temperature", p.Sampling.Temperature, relabel.PaperSampling.Temperature},
		setting{"top-p", p.Sampling.TopP, relabel.PaperSampling.TopP},
		setting{"max-tokens", p.Sampling.MaxTokens, 0})
	settings = append(settings, samplerOf(p.Sampling)...)
	settings = append(settings,
		setting{"concurrency", l.Concurrency, usual.Concurrency},
		setting{"requests-per-minute", l.RequestsPerMinute, usual.RequestsPerMinute},
		setting{"tokens-per-minute", l.TokensPerMinute, usual.TokensPerMinute},
		setting{"timeout", l.TimeoutSeconds, usual.TimeoutSeconds},
		setting{"retries", l.Retries, usual.Retries},
		setting{"patience", l.PatienceSeconds, usual.PatienceSeconds},
		setting{"hedge-after", l.HedgeAfterSeconds, usual.HedgeAfterSeconds},
		setting{"context-tokens", l.ContextTokens, usual.ContextTokens})
	if p.Price != nil {
		settings = append(settings,
			setting{"price-input", p.Price.Input, ""},
			setting{"price-cached", p.Price.Cached, p.Price.Input},
			setting{"price-output", p.Price.Output, ""},
			setting{"price-batch", p.Price.Batch, 0.0},
			setting{"price-currency", p.Price.Currency, "USD"})
	}
	settings = append(settings, setting{"cache-markers", p.CacheMarkers, relabel.CacheMarkersNone}, setting{"tokenizer", p.Tokenizer, ""})
	if p.TemplateText == "" {
		settings = append(settings, setting{"chat-template", p.ChatTemplate, ""})
	}
	return settings
}

// notSent stands for a setting that requests do not have.
const notSent = "not sent"

// samplerOf returns the settings of a sampler whose defaults depend on the kind of server: a neutral
// value where it accepts the setting, else none.
func samplerOf(s relabel.Sampling) []setting {
	settings := []setting{
		optionalSetting("top-k", s.TopK, relabel.NeutralTopK),
		optionalSetting("min-p", s.MinP, relabel.NeutralMinP),
		optionalSetting("repetition-penalty", s.RepetitionPenalty, relabel.NeutralRepetitionPenalty),
		optionalSetting("presence-penalty", s.PresencePenalty, relabel.NeutralPenalty),
		optionalSetting("frequency-penalty", s.FrequencyPenalty, relabel.NeutralPenalty),
	}
	for _, text := range s.Stop {
		settings = append(settings, setting{"stop", text, ""})
	}
	if len(s.ChatTemplateKwargs) > 0 {
		text, _ := json.Marshal(s.ChatTemplateKwargs) // the values came from JSON
		settings = append(settings, setting{"chat-template-kwargs", string(text), ""})
	}
	return settings
}

func optionalSetting[T any](flag string, value *T, neutral T) setting {
	if value == nil {
		return setting{flag, notSent, notSent}
	}
	return setting{flag, *value, neutral}
}

// shellWord quotes a word for a shell if necessary.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
