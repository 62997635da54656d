package secretscan

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// letters returns n characters of an alphabet that look random and are always the same.
func letters(alphabet string, n int) string {
	var text strings.Builder
	for i := 0; text.Len() < n; i++ {
		for _, b := range sha256.Sum256(fmt.Appendf(nil, "%s %d %d", alphabet, n, i)) {
			if text.Len() < n {
				text.WriteByte(alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return text.String()
}

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum = lower + upper + "0123456789"
)

// samples has a secret of each rule, by its name. They are made here: none stands in the source.
func samples() map[string]string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	pem := base64.StdEncoding.EncodeToString([]byte(letters(alnum, 240)))
	return map[string]string{
		"anthropic-key": "sk-ant-api03-" + letters(alnum, 95), "aws-access-key": "AKIA" + letters(upper+"234567", 16),
		"aws-secret-key": letters(alnum, 40), "azure-storage-key": letters(alnum, 86) + "==",
		"github-fine-grained-token": "github_pat_" + letters(alnum, 22) + "_" + letters(alnum, 59), "github-token": "ghp_" + letters(alnum, 36),
		"gitlab-token": "glpat-" + letters(alnum, 20), "google-api-key": "AIza" + letters(alnum, 35), "google-oauth-secret": "GOCSPX-" + letters(alnum, 28),
		"groq-key": "gsk_" + letters(alnum, 52), "huggingface-token": "hf_" + letters(lower+upper, 34),
		"jwt":       part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"17","name":"Ada"}`) + "." + letters(alnum, 43),
		"npm-token": "npm_" + letters(alnum, 36), "nvidia-key": "nvapi-" + letters(alnum, 64),
		"openai-key": "sk-proj-" + letters(alnum, 74) + "T3BlbkFJ" + letters(alnum, 74), "openrouter-key": "sk-or-v1-" + hex.EncodeToString([]byte(letters(alnum, 32))),
		"password-in-url": "kR7zq9Lw2", "private-key": "-----BEGIN RSA PRIVATE KEY-----\n" + pem[:64] + "\n" + pem[64:128] + "\n-----END",
		"pypi-token": "pypi-AgE" + letters(alnum, 120), "replicate-token": "r8_" + letters(alnum, 37), "sendgrid-key": "SG." + letters(alnum, 22) + "." + letters(alnum, 43),
		"slack-token": "xoxb-" + "17653672481" + "-" + letters(alnum, 24), "slack-webhook": "T" + letters(upper, 9) + "/B" + letters(upper, 9) + "/" + letters(alnum, 24),
		"stripe-key": "sk_live_" + letters(alnum, 24), "xai-key": "xai-" + letters(alnum, 80),
	}
}

// around has what stands around a secret that is recognised by it.
var around = map[string]string{
	"aws-secret-key": `export AWS_SECRET_ACCESS_KEY="%s"`, "azure-storage-key": "AccountName=a;AccountKey=%s;", "password-in-url": "git clone https://bot:%s@git.acme.org/r",
	"slack-webhook": "curl https://hooks.slack.com/services/%s",
}

func TestEachRuleFindsItsSecretInTextAndInJSON(t *testing.T) {
	secrets := samples()
	s := NewScanner(nil)
	for _, name := range Names() {
		secret, is := secrets[name]
		if !is {
			t.Errorf("%s has no sample", name)
			continue
		}
		form, is := around[name]
		if !is {
			form = "key = '%s'\n"
		}
		text := "before\n" + fmt.Sprintf(form, secret) + "\nafter"
		escaped := strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(text) // as in the arguments of a call
		for _, text := range []string{text, escaped} {
			found := s.Find(text)
			if len(found) != 1 || found[0].Rule != name {
				t.Errorf("%s: found %v in %s", name, found, text)
				continue
			}
			got := text[found[0].Start:found[0].End]
			if !strings.HasPrefix(got, secret[:20%len(secret)]) || len(got) > len(secret)+20 {
				t.Errorf("%s: found %q", name, got)
			}
			if excerpt := found[0].Excerpt; strings.Contains(excerpt, secret[6:]) || strings.Contains(excerpt, secret[len(secret)-5:]) || strings.Contains(excerpt, "\n") {
				t.Errorf("%s: the excerpt %q shows it", name, excerpt)
			}
		}
	}
}

func TestPlaceholdersAndCodeAreNotSecrets(t *testing.T) {
	s := NewScanner(nil)
	for _, text := range []string{
		"AKIAIOSFODNN7EXAMPLE", "ghp_" + strings.Repeat("x", 36), "hf_" + strings.Repeat("a", 34), "sk-ant-api03-" + strings.Repeat("0", 95),
		"https://user:password@localhost/db", "postgres://postgres:postgres@db:5432/app", "https://${USER}:${PASSWORD}@host", "mongodb://<username>:<password>@cluster", "http://user:{pw}@h",
		"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "if line == '-----BEGIN RSA PRIVATE KEY-----':", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + letters(alnum, 43),
		"task-force-of-" + letters(lower, 30), "self.hf_token_that_is_not_here_but_a_name_of_code = 1", "commit " + strings.Repeat("0123456789abcdef", 2) + "deadbeef", "risk-proj-" + letters(alnum, 60),
		"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==", "time 12:30 // see http://a.b/c:d@e",
		"my" + samples()["github-token"], "_" + samples()["stripe-key"],
	} {
		if found := s.Find(text); len(found) > 0 {
			t.Errorf("%v is found in %s", found, text)
		}
	}
}

func TestSecretsOfTheProcessAreFoundByTheirNames(t *testing.T) {
	s := NewScanner(map[string]string{"TEACHER": `pa"ss with spaces`, "SHORT": "word", "HF_TOKEN": samples()["huggingface-token"]})
	text := "x pa\"ss with spaces y word z pa\\\"ss with spaces, " + samples()["huggingface-token"]
	var rules []string
	for _, f := range s.Find(text) {
		rules = append(rules, f.Rule)
		if excerpt := f.Excerpt; strings.Contains(excerpt, "ss with") || strings.Contains(excerpt, "hf_") {
			t.Errorf("the excerpt is %q", excerpt)
		}
	}
	if want := []string{"own:TEACHER", "own:TEACHER", "own:HF_TOKEN"}; !slices.Equal(rules, want) || !IsOwn(rules[0]) || IsOwn("jwt") {
		t.Errorf("found %v", rules)
	}
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("def f(x: int) -> str:\n    return self.client.get(f\"https://api.acme.org/v1/{x}\", timeout=30).json()[\"key\"]\n", 10_000)
	s := NewScanner(nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Find(text)
	}
}

// A text that repeats the head of a rule is not read again up to its end for each of them, which took minutes per MiB.
func TestManyHeadsInARowAreScannedWithoutReadingTheRestForEach(t *testing.T) {
	done := make(chan int)
	go func() {
		found := 0
		for _, unit := range []string{"eyJ-", "SecretAccessKey", "-----BEGIN RSA PRIVATE KEY-----\n"} {
			found += len(NewScanner(nil).Find(strings.Repeat(unit, 2<<20/len(unit))))
		}
		done <- found
	}()
	select {
	case found := <-done:
		if found > 0 {
			t.Errorf("found %d secrets", found)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the scan of 6 MiB does not end")
	}
}
