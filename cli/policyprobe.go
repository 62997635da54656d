package cli

import (
	"context"
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
	words := []string{"relabel", "policy", "add", p.Name, "--base-url", p.BaseURL, "--model", p.Model}
	add := func(name string, value, usual any) {
		if value != usual {
			words = append(words, "--"+name, fmt.Sprint(value))
		}
	}
	for _, r := range p.Replicas {
		add("replica", r, "")
	}
	add("server-kind", p.Server, relabel.ServerGeneric)
	add("tool-format", p.ToolFormat, relabel.ToolsNative)
	add("secret", p.Secret, "")
	add("temperature", p.Sampling.Temperature, relabel.PaperSampling.Temperature)
	add("top-p", p.Sampling.TopP, relabel.PaperSampling.TopP)
	add("max-tokens", p.Sampling.MaxTokens, 0)
	l, usual := p.Limits, relabel.DefaultPolicyLimits
	add("concurrency", l.Concurrency, usual.Concurrency)
	add("requests-per-minute", l.RequestsPerMinute, usual.RequestsPerMinute)
	add("tokens-per-minute", l.TokensPerMinute, usual.TokensPerMinute)
	add("timeout", l.TimeoutSeconds, usual.TimeoutSeconds)
	add("retries", l.Retries, usual.Retries)
	add("patience", l.PatienceSeconds, usual.PatienceSeconds)
	add("hedge-after", l.HedgeAfterSeconds, usual.HedgeAfterSeconds)
	add("context-tokens", l.ContextTokens, usual.ContextTokens)
	if p.Price != nil {
		add("price-input", p.Price.Input, "")
		add("price-cached", p.Price.Cached, p.Price.Input)
		add("price-output", p.Price.Output, "")
		add("price-batch", p.Price.Batch, 0.0)
		add("price-currency", p.Price.Currency, "USD")
	}
	add("cache-markers", p.CacheMarkers, relabel.CacheMarkersNone)
	add("tokenizer", p.Tokenizer, "")
	add("chat-template", p.ChatTemplate, "")
	if p.TemplateText != "" { // the user has the file
		add("chat-template", "FILE", "")
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a shell if necessary.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
