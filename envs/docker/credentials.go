package docker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"relabel"
)

// configFile is the part of Docker's config.json that concerns registries.
type configFile struct {
	Auths map[string]struct {
		Auth          string `json:"auth"` // base64 of user:password
		IdentityToken string `json:"identitytoken"`
	} `json:"auths"`
	Helpers map[string]string `json:"credHelpers"` // registry to program
	Store   string            `json:"credsStore"`  // the program for all others
}

// helperTime bounds a credential helper.
const helperTime = 30 * time.Second

// ConfigCredentials reads credentials from a config.json as `docker login` writes it, also through
// credential helpers. Each call reads the file, which may change while relabel runs. Errors are
// CodeInvalid and never contain parts of the file. Without a path there are none.
func ConfigCredentials(path string) Finder {
	return func(registry string) (Credentials, bool, error) {
		if path == "" {
			return Credentials{}, false, nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return Credentials{}, false, relabel.Errorf(relabel.CodeInvalid, "the credentials of registries cannot be read from %s", path).Because(err)
		}
		var config configFile
		if json.Unmarshal(content, &config) != nil {
			return Credentials{}, false, relabel.Errorf(relabel.CodeInvalid, "%s is not a config.json of Docker", path)
		}
		c, found, err := config.find(registry)
		if err != nil {
			err = relabel.Errorf(relabel.CodeInvalid, "the credentials of %s in %s cannot be used", registry, path).Because(err)
		}
		return c, found, err
	}
}

// SecretCredentials reads the credentials of the named registries from secrets, which hold
// user:password, and those of others with others. Errors are CodeInvalid or secret's own.
func SecretCredentials(names map[string]string, secret func(name string) (string, error), others Finder) Finder {
	return func(registry string) (Credentials, bool, error) {
		name := names[registry]
		if name == "" {
			return others(registry)
		}
		value, err := secret(name)
		if err != nil {
			return Credentials{}, false, err
		}
		c, found, err := ParseCredentials(value)
		if err != nil {
			err = relabel.Errorf(relabel.CodeInvalid, "the secret %s must contain user:password", name)
		}
		return c, found, err
	}
}

// namesOf are the possible keys of a registry: with or without scheme and path, and for Docker Hub
// also old addresses.
func namesOf(registry string) []string {
	names := []string{registry, "https://" + registry, "http://" + registry, "https://" + registry + "/v1/", "https://" + registry + "/v2/"}
	if registry == "docker.io" {
		names = append(names, "https://index.docker.io/v1/", "index.docker.io", "registry-1.docker.io")
	}
	return names
}

func (c configFile) find(registry string) (Credentials, bool, error) {
	for _, name := range namesOf(registry) {
		if helper := c.Helpers[name]; helper != "" {
			return askHelper(helper, name)
		}
		entry, there := c.Auths[name]
		switch {
		case !there:
			continue
		case entry.IdentityToken != "":
			return Credentials{IdentityToken: entry.IdentityToken}, true, nil
		case entry.Auth != "":
			return ParseCredentials(entry.Auth)
		case c.Store != "":
			return askHelper(c.Store, name)
		}
	}
	return Credentials{}, false, nil
}

// ParseCredentials reads user:password, also in base64 as in a config.json. The error does not contain
// the text.
func ParseCredentials(text string) (Credentials, bool, error) {
	text = strings.TrimSpace(text)
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
		text = string(plain)
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok || user == "" {
		return Credentials{}, false, errors.New("it is not user:password")
	}
	return Credentials{User: user, Password: strings.TrimRight(password, "\x00")}, true, nil
}

// askHelper runs one of Docker's credential helpers.
func askHelper(helper, registry string) (Credentials, bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), helperTime)
	defer cancel()
	ask := exec.CommandContext(ctx, "docker-credential-"+helper, "get")
	ask.Stdin = strings.NewReader(registry)
	answer, err := ask.Output()
	if err != nil {
		if bytes.Contains(answer, []byte("credentials not found")) {
			return Credentials{}, false, nil
		}
		return Credentials{}, false, err
	}
	var has struct{ Username, Secret string }
	if json.Unmarshal(answer, &has) != nil {
		return Credentials{}, false, errors.New("the helper's answer is not JSON")
	}
	if has.Username == "<token>" {
		return Credentials{IdentityToken: has.Secret}, true, nil
	}
	return Credentials{User: has.Username, Password: has.Secret}, true, nil
}
