package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"relabel"
	"relabel/cli"
	"relabel/policy"
	"relabel/safetext"
)

// probe asks an endpoint a few things and prints what it can do. It runs here and with
// the secrets of here, not where the workers are.
func (c *doctorCommand) probe(ctx context.Context) error {
	return c.With(ctx, func(cl *cli.Session) error {
		p, err := cli.FindPolicy(ctx, cl, c.Policy)
		if err != nil {
			return err
		}
		secrets := policy.Secrets{Dir: c.Secrets}
		if p.Secret != "" { // without it nothing is asked, and nothing is known of the endpoint
			if _, err := secrets.Find(p.Secret); err != nil {
				return err
			}
		}
		rule, err := environmentRule()
		if err != nil {
			return err
		}
		report, err := policy.Probe(ctx, p, policy.Options{Secrets: secrets, Transport: rule.Transport})
		if printed := c.print(report); printed != nil { // what was found out before an error is worth reading too
			return printed
		}
		return err
	})
}

// print writes the report with the command that does what it suggests.
func (c *doctorCommand) print(report policy.Report) error {
	command := ""
	if report.Suggested != nil {
		command = addCommand(*report.Suggested)
	}
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(struct {
			policy.Report
			Command string `json:"command,omitempty"` // what to run, as one shell line
		}{report, command})
	}
	fmt.Print(safetext.Terminal(report.String()))
	if command != "" {
		fmt.Printf("\nThe next version with that in it:\n  %s\n", safetext.Terminal(command))
	}
	return nil
}

// addCommand is the shell line that registers p as its name's next version, without what
// is the default.
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
		add("currency", p.Price.Currency, "USD")
	}
	add("cache-markers", string(p.CacheMarkers), string(relabel.CacheMarkersNone))
	add("tokenizer", p.Tokenizer, "")
	add("chat-template", p.ChatTemplate, "")
	if p.TemplateText != "" { // it is a file of whoever registers the policy
		add("chat-template", "FILE", "")
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
