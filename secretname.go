package relabel

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// newSecretName matches the name of a secret in new policies. Stored policies may have longer
// names, or names that begin with a digit.
var newSecretName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// keyPrefixes begin the keys of known services, and relabel's own tokens and signatures.
var keyPrefixes = []string{"sk-", "sk_", "pk-", "hf_", "gsk_", "xai-", "AIza", "ghp_", "gho_", "github_pat_", "glpat-", "AKIA", "ASIA", "nvapi-", "r8_", "tgp_", "fw_", "csk-", "pplx-", "eyJ", "whsec_", "relabel_"}

// credentialNames are the names of query parameters that carry credentials.
var credentialNames = []string{"token", "access_token", "auth", "authorization", "key", "api_key", "apikey", "api-key", "secret", "password", "sig", "signature"}

// CheckSecretName returns a CodeInvalid error on field if name is not a valid name of a secret
// or looks like a key. "" is allowed. The message never contains the text, which may be a key
// given by mistake.
func CheckSecretName(field, name string) error {
	switch {
	case name == "":
		return nil
	case looksLikeKey(name):
		return Errorf(CodeInvalid, "looks like a key, not like a secret's name; give the key to the process as RELABEL_SECRET_<NAME> and write NAME here. If it was a key, replace it").On(field)
	case !newSecretName.MatchString(name):
		return Errorf(CodeInvalid, "is not the name of a secret: a letter, then at most 39 letters, digits, hyphens or underscores").On(field)
	}
	return nil
}

// ValidateNew validates a policy before it is stored: beyond Validate it refuses keys in names
// and addresses. Stored policies are not checked again, so older ones keep working.
func (p Policy) ValidateNew() error {
	if err := CheckSecretName("secret", p.Secret); err != nil {
		return err
	}
	if len(p.Name) >= shortestKey && looksLikeKey(p.Name) {
		return Errorf(CodeInvalid, "looks like a key; choose another name").On("name")
	}
	for i, address := range append([]string{p.BaseURL}, p.Replicas...) {
		field := "base_url"
		if i > 0 {
			field = fmt.Sprintf("replicas[%d]", i-1)
		}
		if u, err := url.Parse(address); err == nil && holdsCredential(u) {
			return Errorf(CodeInvalid, "contains a credential; name a secret instead").On(field)
		}
	}
	return p.Validate()
}

// shortestKey is the length in bytes from which a text with a key's prefix counts as a key
// where names of any form are allowed.
const shortestKey = 20

// looksLikeKey reports whether a text has the prefix of a known service's keys.
func looksLikeKey(text string) bool {
	for _, prefix := range keyPrefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// holdsCredential reports whether an address has a credential in its user part, its query
// or a segment of its path.
func holdsCredential(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	for name, values := range u.Query() {
		for _, known := range credentialNames {
			if strings.EqualFold(name, known) {
				return true
			}
		}
		for _, value := range values {
			if looksLikeKey(value) {
				return true
			}
		}
	}
	for _, segment := range strings.Split(u.Path, "/") {
		if len(segment) >= shortestKey && looksLikeKey(segment) {
			return true
		}
	}
	return false
}
