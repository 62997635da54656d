package secretscan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"regexp"
	"strings"
)

// Version is that of the rules. It increases with each change that can change what is found.
const Version = 2

// rule finds the secrets of one form. They begin with one of the heads, which are fast to search for, and match
// form from there.
type rule struct {
	name   string
	heads  []string
	form   *regexp.Regexp           // anchored at the head; its group 1, or all, is the secret
	within bool                     // whether the head may follow a letter or a digit
	may    func(behind string) bool // a faster test before form, of the text behind the head; nil: none
	real   func(secret string) bool // refuses what only looks like a secret
}

// reach bounds the text behind a head that a form sees, in bytes.
const reach = 8 << 10

// rules are the forms of keys that providers document, and keys in the forms of standards. There is no rule for any text
// that looks random: in source code such a rule finds hashes and identifiers.
var rules = []rule{
	{name: "anthropic-key", heads: []string{"sk-ant-"}, form: at(`sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{80,200}`), real: varied},
	{name: "aws-access-key", heads: []string{"AKIA", "ASIA"}, form: at(`(?:AKIA|ASIA)[A-Z2-7]{16}\b`), real: notExample},
	{name: "aws-secret-key", heads: []string{"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey"}, form: at(`\w{1,60}\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`), within: true, real: notExample},
	{name: "azure-storage-key", heads: []string{"AccountKey="}, form: at(`AccountKey=([A-Za-z0-9+/]{86}==)`), within: true, real: notDeveloper},
	{name: "github-fine-grained-token", heads: []string{"github_pat_"}, form: at(`github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`), real: varied},
	{name: "github-token", heads: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, form: at(`gh[pousr]_[A-Za-z0-9]{36,251}`), real: varied},
	{name: "gitlab-token", heads: []string{"glpat-"}, form: at(`glpat-[A-Za-z0-9_-]{20,64}`), real: varied},
	{name: "google-api-key", heads: []string{"AIza"}, form: at(`(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)`), real: varied},
	{name: "google-oauth-secret", heads: []string{"GOCSPX-"}, form: at(`GOCSPX-[A-Za-z0-9_-]{28}`), real: varied},
	{name: "groq-key", heads: []string{"gsk_"}, form: at(`gsk_[A-Za-z0-9]{52}`), real: varied},
	{name: "huggingface-token", heads: []string{"hf_"}, form: at(`hf_[A-Za-z]{34}\b`), real: varied},
	{name: "jwt", heads: []string{"eyJ"}, form: at(`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}`), may: hasHeader, real: varied},
	{name: "npm-token", heads: []string{"npm_"}, form: at(`npm_[A-Za-z0-9]{36}\b`), real: varied},
	{name: "nvidia-key", heads: []string{"nvapi-"}, form: at(`nvapi-[A-Za-z0-9_-]{60,70}`), real: varied},
	{name: "openai-key", heads: []string{"sk-"}, form: at(`sk-(?:[a-z]{2,12}-)?[A-Za-z0-9_-]{16,100}T3BlbkFJ[A-Za-z0-9_-]{16,100}`), real: varied},
	{name: "openrouter-key", heads: []string{"sk-or-v1-"}, form: at(`sk-or-v1-[0-9a-f]{64}`), real: varied},
	{name: "password-in-url", heads: []string{"://"}, form: at(`://[^\s:/?#@"'<>\\]{0,100}:([^\s:/?#@"'<>\\]{6,200})@[A-Za-z0-9.\[-]`), within: true, may: hasUser, real: isPassword},
	{name: "private-key", heads: []string{"-----BEGIN "}, form: at(`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\+[nr])*(?:-?[A-Za-z0-9+/=:,. ]){16,}(?:(?:\s|\\+[nr])+(?:-?[A-Za-z0-9+/=:,. ])+)+`), within: true, real: hasKey},
	{name: "pypi-token", heads: []string{"pypi-AgE"}, form: at(`pypi-AgE[A-Za-z0-9_-]{50,400}`), real: varied},
	{name: "replicate-token", heads: []string{"r8_"}, form: at(`r8_[A-Za-z0-9]{37}\b`), real: varied},
	{name: "sendgrid-key", heads: []string{"SG."}, form: at(`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`), real: varied},
	{name: "slack-token", heads: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"}, form: at(`x(?:ox[a-z]|app)-[0-9A-Za-z]{1,14}-[0-9A-Za-z-]{20,250}`), real: varied},
	{name: "slack-webhook", heads: []string{"hooks.slack.com/services/T"}, form: at(`hooks\.slack\.com/services/(T[A-Z0-9]{6,14}/B[A-Z0-9]{6,14}/[A-Za-z0-9]{20,30})`), within: true, real: varied},
	{name: "stripe-key", heads: []string{"sk_live_", "rk_live_"}, form: at(`[sr]k_live_[A-Za-z0-9]{20,120}`), real: varied},
	{name: "xai-key", heads: []string{"xai-"}, form: at(`xai-[A-Za-z0-9]{80}\b`), real: varied},
}

func at(form string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + form + `)`) }

// leastEntropy is that of the characters of a key, in bits each. Placeholders such as ghp_xxxxxxxx have less.
const leastEntropy = 3

// varied refuses placeholders.
func varied(secret string) bool { return entropy(secret) >= leastEntropy && notExample(secret) }

// notExample refuses the keys of documentation.
func notExample(secret string) bool {
	lower := strings.ToLower(secret)
	for _, word := range []string{"example", "placeholder", "your", "1234567890abcdef", "0123456789abcdef", "abcdefghijklmnop", "xxxxxx", "000000"} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return true
}

// entropy returns the entropy of a text's bytes in bits per byte.
func entropy(text string) (bits float64) {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// notDeveloper refuses the key that every storage emulator of Azure has.
func notDeveloper(secret string) bool {
	return !strings.HasPrefix(secret, "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1") && varied(secret)
}

// mostHeader bounds the header of a signed token, in bytes of base64.
const mostHeader = 2 << 10

// hasHeader reports whether the text behind eyJ is the rest of a signed token's header, up to its dot. The test comes before
// the form: in a long text of many heads the form would read the same bytes again for each.
func hasHeader(behind string) bool {
	behind = behind[:min(len(behind), mostHeader)]
	end := 0
	for end < len(behind) && (isWord(behind[end]) || behind[end] == '-') {
		end++
	}
	if end == len(behind) || behind[end] != '.' {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString("eyJ" + behind[:end])
	var header struct {
		Algorithm string `json:"alg"`
	}
	return err == nil && json.NewDecoder(bytes.NewReader(text)).Decode(&header) == nil && header.Algorithm != "" && !strings.EqualFold(header.Algorithm, "none")
}

// commonPasswords are those of documentation and of databases for tests.
var commonPasswords = []string{"pass", "secret", "test", "admin", "root", "user", "guest", "change", "example", "postgres", "mysql", "token", "redis", "rabbit", "mongo", "xxx", "***", "…", "..."}

// hasUser reports whether the address behind :// has a user with a password before its host.
func hasUser(behind string) bool {
	colon := false
	for i := range min(len(behind), 300) {
		switch behind[i] {
		case '@':
			return colon
		case ':':
			colon = true
		case '/', '?', '#', ' ', '\n', '\t', '\r', '"', '\'', '<', '>', '\\':
			return false
		}
	}
	return false
}

// isPassword refuses what stands for a password in documentation and templates.
func isPassword(secret string) bool {
	if strings.ContainsAny(secret, "${}%<>()[]*,;`|") || entropy(secret) < 2.5 {
		return false
	}
	lower := strings.ToLower(secret)
	for _, word := range commonPasswords {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return strings.ContainsAny(secret, "0123456789") || strings.ToLower(secret) != secret
}

// keyBytes is the least length of the text between the marks of a private key.
const keyBytes = 64

// hasKey reports whether there is more than the mark of a private key.
func hasKey(secret string) bool {
	_, body, _ := strings.Cut(strings.TrimPrefix(secret, "-----BEGIN "), "-----")
	return len(body) >= keyBytes && entropy(body) >= 4
}
