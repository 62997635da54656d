package docker

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/docker/docker/client"

	"relabel"
)

// Address is the address of an engine with its settings.
type Address struct {
	// Name is the address without settings, as it is recorded: unix:///path, tcp://host:port or
	// ssh://user@host:port.
	Name string
	// TLS is the folder of ca.pem, cert.pem and key.pem, for an engine behind tcp.
	TLS string
	// Slots is the maximum number of concurrent sandboxes; 0 if the address has none.
	Slots int

	url *url.URL
	// anyServer accepts any certificate of the server: DOCKER_CERT_PATH without DOCKER_TLS_VERIFY.
	anyServer bool
}

// ParseAddress reads an engine's address with its settings, as in
// tcp://host:2376?tls=/etc/relabel/host&slots=8. "" means DOCKER_HOST, or the default socket. For an
// engine behind tcp without tls, Docker's DOCKER_CERT_PATH applies. Errors are CodeInvalid.
func ParseAddress(text string) (Address, error) {
	text = cmp.Or(text, os.Getenv(client.EnvOverrideHost), client.DefaultDockerHost)
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, badAddress(text, "it is not a URL").Because(err)
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.User != nil && u.Scheme != "ssh" {
		return Address{}, badAddress(u.Scheme+"://"+u.Host, "an address must not contain credentials")
	}
	a := Address{url: u}
	for key, values := range u.Query() {
		switch key {
		case "slots":
			if a.Slots, err = strconv.Atoi(values[0]); err != nil || a.Slots < 1 {
				return Address{}, badAddress(text, "slots must be a number from 1")
			}
		case "tls":
			if a.TLS = values[0]; u.Scheme != "tcp" {
				return Address{}, badAddress(text, "tls is only for tcp")
			}
		default:
			return Address{}, badAddress(text, "unknown setting "+strconv.Quote(key)+"; the settings are slots and tls")
		}
	}
	u.RawQuery = ""
	a.Name = u.String()
	if a.TLS == "" && u.Scheme == "tcp" {
		a.TLS, a.anyServer = os.Getenv(client.EnvOverrideCertPath), os.Getenv(client.EnvTLSVerify) == ""
	}
	return a, a.check(text)
}

// check refuses an address that cannot be dialled.
func (a Address) check(text string) error {
	u := a.url
	switch {
	case u.Scheme == "unix" && filepath.IsAbs(u.Path):
	case u.Scheme == "tcp" && u.Host != "" && u.Port() != "":
	case u.Scheme == "ssh" && u.Hostname() != "" && (u.Path == "" || u.Path == "/"):
	default:
		return badAddress(text, "write unix:///path, tcp://host:port or ssh://user@host")
	}
	return nil
}

func badAddress(text, why string) *relabel.Error {
	return relabel.Errorf(relabel.CodeInvalid, "%q is not the address of a Docker engine: %s", text, why)
}
