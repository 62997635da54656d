package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
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
		out := json.NewEncoder(os.Stdout)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(report.Fields(command))
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
	add := func(name, value, usual string) {
		if value != usual {
			words = append(words, "--"+name, value)
		}
	}
	decimal := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	number := func(name string, value, usual int) { add(name, strconv.Itoa(value), strconv.Itoa(usual)) }
	for _, r := range p.Replicas {
		add("replica", r, "")
	}
	add("server-kind", string(p.Server), string(relabel.ServerGeneric))
	add("tool-format", string(p.ToolFormat), string(relabel.ToolsNative))
	add("secret", p.Secret, "")
	add("temperature", decimal(p.Sampling.Temperature), decimal(relabel.PaperSampling.Temperature))
	add("top-p", decimal(p.Sampling.TopP), decimal(relabel.PaperSampling.TopP))
	number("max-tokens", p.Sampling.MaxTokens, 0)
	l, usual := p.Limits, relabel.DefaultPolicyLimits
	number("concurrency", l.Concurrency, usual.Concurrency)
	number("requests-per-minute", l.RequestsPerMinute, usual.RequestsPerMinute)
	number("tokens-per-minute", l.TokensPerMinute, usual.TokensPerMinute)
	number("timeout", l.TimeoutSeconds, usual.TimeoutSeconds)
	number("retries", l.Retries, usual.Retries)
	number("patience", l.PatienceSeconds, usual.PatienceSeconds)
	number("hedge-after", l.HedgeAfterSeconds, usual.HedgeAfterSeconds)
	number("context-tokens", l.ContextTokens, usual.ContextTokens)
	if p.Price != nil {
		add("price-input", decimal(p.Price.Input), "")
		add("price-cached", decimal(p.Price.Cached), decimal(p.Price.Input))
		add("price-output", decimal(p.Price.Output), "")
		add("price-batch", decimal(p.Price.Batch), "0")
		add("price-currency", p.Price.Currency, "USD")
	}
	add("cache-markers", string(p.CacheMarkers), string(relabel.CacheMarkersNone))
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
