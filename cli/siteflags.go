package cli

import (
	"cmp"
	"errors"
	"strings"

	"relabel"
)

// ServeFlags are those of a process that serves and works.
type ServeFlags struct {
	DatabaseFlags
	WorkFlags
	SiteFlags
	Listen string `default:"127.0.0.1:7788" env:"RELABEL_LISTEN" help:"Address to listen on. Any but loopback requires a bearer token (relabel token create)."`
}

// SiteFlags are the server's own address and the default receiver of webhooks.
type SiteFlags struct {
	URL           string `name:"url" env:"RELABEL_URL" placeholder:"URL" help:"Address of this server for receivers of webhooks. Default: the one it listens on."`
	WebhookURL    string `env:"RELABEL_WEBHOOK_URL" placeholder:"URL" help:"Receiver of webhooks when an iteration or export ends, for runs without a receiver of their own."`
	WebhookSecret string `env:"RELABEL_WEBHOOK_SECRET" placeholder:"NAME" help:"NAME of the secret that signs these webhooks."`
}

// Site returns what the database stores about the server; address is where it listens.
func (f SiteFlags) Site(address string) relabel.Site {
	return relabel.Site{URL: strings.TrimSuffix(cmp.Or(f.URL, address), "/"), Webhook: f.webhook()}
}

// webhook returns the default receiver, or nil.
func (f SiteFlags) webhook() *relabel.Webhook {
	if f.WebhookURL == "" && f.WebhookSecret == "" {
		return nil
	}
	return &relabel.Webhook{URL: f.WebhookURL, Secret: f.WebhookSecret}
}

// CheckSite refuses malformed addresses.
func (f SiteFlags) CheckSite() error {
	if f.URL != "" {
		if _, err := Open(f.URL, "", "--url"); err != nil {
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
