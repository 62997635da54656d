// Package objects keeps files in object stores: in buckets by the protocol of S3, and in containers by that of Azure's
// blob storage.
package objects

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Place says which bucket or container to use, and how.
type Place struct {
	Bucket  string
	Options url.Values // by the names that docs/destinations.md describes, with valid values
	// Transport connects to the stores and to the servers of keys; nil: the default one.
	Transport *http.Transport
	// CloudKeys allows keys from the machine's own role or identity, which its metadata service gives.
	CloudKeys bool
}

// ErrNoKeys means that there are no keys to sign a request with.
var ErrNoKeys = errors.New("no keys")

// SettingError is a setting of the destination or the environment that cannot be used. Its text says what to do and is
// safe to show.
type SettingError string

// Error implements error.
func (e SettingError) Error() string { return string(e) }

// client returns an HTTP client that connects through Transport and, if authorities is not "", trusts only the
// certificates in that file. It follows no redirects, because they could lead to another server.
func (p Place) client(authorities string) (*http.Client, error) {
	transport := p.Transport
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport)
	}
	if authorities != "" {
		text, err := os.ReadFile(authorities)
		if err != nil {
			return nil, SettingError("AWS_CA_BUNDLE names a file that cannot be read: " + err.Error())
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(text) {
			return nil, SettingError("AWS_CA_BUNDLE names a file without certificates: " + authorities)
		}
		transport = transport.Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: trusted}
	}
	return &http.Client{Transport: transport, CheckRedirect: stay}, nil
}

// stay follows no redirect.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// metadata is the client of services of the machine itself, which are asked directly and only with CloudKeys.
var metadata = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: stay,
	Timeout:       2 * time.Second,
}
