package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relabel"
	"relabel/chat"
)

// Secrets finds secret values by name: first in the environment variable RELABEL_SECRET_NAME (the name
// in upper case, hyphens as underscores), then in the file NAME in Dir. Values are used only in the
// Authorization header.
type Secrets struct {
	Dir string // "": only the environment
}

// redacted replaces a secret in text.
const redacted = "[secret]"

// Find returns the secret's value without surrounding white space. Its CodeSecretMissing error names the
// places where it looked.
func (s Secrets) Find(name string) (string, error) {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "the name of a policy's secret must be a plain file name")
	}
	variable := secretVariable + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if value, ok := os.LookupEnv(variable); ok {
		return checkSecret(value, "environment variable "+variable)
	}
	advice, err := "set the environment variable "+variable, fs.ErrNotExist
	if s.Dir != "" {
		file := filepath.Join(s.Dir, name)
		var data []byte
		if data, err = os.ReadFile(file); err == nil {
			return checkSecret(string(data), "file "+file)
		}
		advice += " or write the file " + file
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "secret %q is missing on %s: %s for relabel's processes there", name, machine(), advice)
	}
	return "", relabel.Errorf(relabel.CodeSecretMissing, "secret %q cannot be read from the file %s", name, filepath.Join(s.Dir, name)).Because(err)
}

// secretVariable begins the names of environment variables with secrets.
const secretVariable = "RELABEL_SECRET_"

// All returns all secrets by name: of variables the name in upper case, of files theirs. What cannot be read is left out:
// nothing of this process uses it.
func (s Secrets) All() map[string]string {
	all := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if name, is := strings.CutPrefix(name, secretVariable); is && name != "" {
			all[name] = strings.TrimSpace(value)
		}
	}
	if s.Dir == "" {
		return all
	}
	files, err := os.ReadDir(s.Dir)
	if err != nil {
		return all
	}
	for _, f := range files {
		if value, err := s.Find(f.Name()); err == nil {
			all[f.Name()] = value
		}
	}
	return all
}

// machine is the name of this machine; others may have the secret.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "this machine"
	}
	return name
}

// of returns p's secret; "" without one.
func (s Secrets) of(p relabel.Policy) (string, error) {
	if p.Secret == "" {
		return "", nil
	}
	return s.Find(p.Secret)
}

// checkSecret refuses values that are invalid in a header: net/http's error could show them.
func checkSecret(value, where string) (string, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "the %s is empty", where)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r == 0x7F }) {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "the %s contains a line break or another control character", where)
	}
	return value, nil
}

// scrub removes a secret from text of an endpoint.
func scrub(text, secret string) string {
	if secret == "" {
		return text
	}
	text = strings.ReplaceAll(text, secret, redacted)
	quoted := chat.AppendString(nil, secret) // as part of a JSON string
	return strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), redacted)
}
