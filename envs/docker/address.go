package docker

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/docker/docker/client"

	"relabel"
)

// Address says where an engine listens and how much it is to bear.
type Address struct {
	// Name is the address alone, as it is recorded: unix:///path, tcp://host:port or
	// ssh://user@host:port.
	Name string
	// TLS is the folder of ca.pem, cert.pem and key.pem, of an engine behind tcp.
	TLS string
	// Slots is how many sandboxes it may hold at once; 0 where nothing is said.
	Slots int

	url *url.URL
	// anyServer takes any certificate of the server's, which only DOCKER_CERT_PATH without
	// DOCKER_TLS_VERIFY can ask for.
	anyServer bool
}

// ParseAddress reads an engine's address with its settings, as in
// tcp://host:2376?tls=/etc/relabel/host&slots=8. "" is DOCKER_HOST, or the default socket;
// an engine behind tcp without tls takes Docker's own DOCKER_CERT_PATH. Errors are
// CodeInvalid.
func ParseAddress(text string) (Address, error) {
	if text == "" {
		text = os.Getenv(client.EnvOverrideHost)
	}
	if text == "" {
		text = client.DefaultDockerHost
	}
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, badAddress(text, "it is no URL").Because(err)
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.User != nil && u.Scheme != "ssh" {
		return Address{}, badAddress(u.Scheme+"://"+u.Host, "credentials have no place in an address")
	}
	a := Address{url: u}
	for key, values := range u.Query() {
		switch key {
		case "slots":
			if a.Slots, err = strconv.Atoi(values[0]); err != nil || a.Slots < 1 {
				return Address{}, badAddress(text, "slots is a number from 1")
			}
		case "tls":
			if a.TLS = values[0]; u.Scheme != "tcp" {
				return Address{}, badAddress(text, "tls is for tcp alone")
			}
		default:
			return Address{}, badAddress(text, "there is no setting "+strconv.Quote(key)+"; there are slots and tls")
		}
	}
	u.RawQuery = ""
	a.Name = u.String()
	if a.TLS == "" && u.Scheme == "tcp" {
		a.TLS, a.anyServer = os.Getenv(client.EnvOverrideCertPath), os.Getenv(client.EnvTLSVerify) == ""
	}
	return a, a.check(text)
}

// check refuses what cannot be dialled.
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
	return relabel.Errorf(relabel.CodeInvalid, "no Docker engine can be at %q: %s", text, why)
}
