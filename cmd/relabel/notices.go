package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/policy"
	"relabel/webhook"
)

// webhooksAtOnce is how many deliveries one process tries at a time.
const webhooksAtOnce = 4

// siteFlags say what others are told of a server.
type siteFlags struct {
	URL           string `name:"url" env:"RELABEL_URL" placeholder:"URL" help:"Address of this server as receivers of webhooks reach it. Default: the one it listens on."`
	WebhookURL    string `env:"RELABEL_WEBHOOK_URL" placeholder:"URL" help:"Who is told when an iteration or an export is over, of runs that name nobody."`
	WebhookSecret string `env:"RELABEL_WEBHOOK_SECRET" placeholder:"NAME" help:"NAME of the secret that signs what is told."`
}

// announce says in the database, where all processes find it, where the server is and
// whom it tells. The server that started last says.
func (f siteFlags) announce(ctx context.Context, db *database, address string) error {
	return db.SetSite(ctx, relabel.Site{URL: strings.TrimSuffix(cmp.Or(f.URL, address), "/"), Webhook: f.webhook()})
}

// webhook is who is told, nil for nobody.
func (f siteFlags) webhook() *relabel.Webhook {
	if f.WebhookURL == "" && f.WebhookSecret == "" {
		return nil
	}
	return &relabel.Webhook{URL: f.WebhookURL, Secret: f.WebhookSecret}
}

// check refuses addresses that nobody can be reached at.
func (f siteFlags) check() error {
	if f.URL != "" {
		if _, err := cli.Open(f.URL, "", "--url"); err != nil {
			return err
		}
	}
	w := f.webhook()
	if w == nil {
		return nil
	}
	err := w.Validate()
	var e *relabel.Error
	if errors.As(err, &e) {
		return e.On("--" + strings.ReplaceAll(e.Field, ".", "-"))
	}
	return err
}

// newWebhookSender delivers webhooks.
func newWebhookSender(db *database, f secretFlags, res resources, log zerolog.Logger) *webhook.Worker {
	return webhook.NewWorker(webhook.Config{Store: db.Store, Now: db.Clock().Now, Secret: policy.Secrets{Dir: f.Secrets}.Find, Transport: res.rule.Transport(), Log: log, Version: version})
}
