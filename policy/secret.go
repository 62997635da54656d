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

// Secrets finds secret values by name: first in the environment variable
// RELABEL_SECRET_NAME (the name in upper case, hyphens as underscores), then in the
// file NAME in Dir. Values go into the Authorization header and nowhere else.
type Secrets struct {
	Dir string // "" looks at the environment alone
}

// redacted stands where a secret stood.
const redacted = "[secret]"

// Find returns the secret's value; spaces and line ends around it are not part of it.
// It fails with CodeSecretMissing, saying where it looked.
func (s Secrets) Find(name string) (string, error) {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "the name of a policy's secret must be a plain file name")
	}
	variable := "RELABEL_SECRET_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if value, ok := os.LookupEnv(variable); ok {
		return checkSecret(value, "environment variable "+variable)
	}
	if s.Dir == "" {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "secret %q is missing on %s: set the environment variable %s for relabel's processes there", name, machine(), variable)
	}
	file := filepath.Join(s.Dir, name)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "secret %q is missing on %s: set the environment variable %s or write the file %s for relabel's processes there", name, machine(), variable, file)
	}
	if err != nil {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "secret %q cannot be read from the file %s", name, file).Because(err)
	}
	return checkSecret(string(data), "file "+file)
}

// machine names the machine that lacks a secret: others may have it.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "this machine"
	}
	return name
}

// of returns p's secret, "" if it names none.
func (s Secrets) of(p relabel.Policy) (string, error) {
	if p.Secret == "" {
		return "", nil
	}
	return s.Find(p.Secret)
}

// checkSecret refuses what no header can carry: net/http's own error could show it.
func checkSecret(value, where string) (string, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "the %s is empty", where)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r == 0x7F }) {
		return "", relabel.Errorf(relabel.CodeSecretMissing, "the %s holds a line break or another control character", where)
	}
	return value, nil
}

// scrub takes a secret out of text that came from outside.
func scrub(text, secret string) string {
	if secret == "" {
		return text
	}
	text = strings.ReplaceAll(text, secret, redacted)
	// As it stands inside a JSON string.
	quoted := chat.AppendString(nil, secret)
	return strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), redacted)
}
