package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keyOf sends a request to a server and returns the name of the key that signed it, and its session token.
func keyOf(t *testing.T, cloudKeys bool) (key, token string, err error) {
	t.Helper()
	server := record(t, false, nil)
	s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"eu-west-1"}, "endpoint": {server.URL}}, CloudKeys: cloudKeys})
	if err == nil {
		err = s.Delete(t.Context(), "x")
	}
	if err != nil {
		return "", "", err
	}
	q := server.all()[0]
	key, _, _ = strings.Cut(strings.TrimPrefix(q.Header.Get("Authorization"), algorithm+" Credential="), "/")
	return key, q.Header.Get("X-Amz-Security-Token"), nil
}

// file writes a file and names it in a variable.
func file(t *testing.T, variable, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	t.Setenv(variable, path)
}

func TestKeysComeFromTheProfile(t *testing.T) {
	const keys = `
# comment = x
[default]
aws_access_key_id = d1
aws_secret_access_key=s ; a comment
[ team ] # another
aws_access_key_id = t1
AWS_SECRET_ACCESS_KEY = a#b
aws_session_token = token1
`
	const config = `
[profile team]
region = eu-north-1
endpoint_url = https://team.example
s3 =
  addressing_style = path
aws_access_key_id = the other file takes precedence
[default]
region = us-west-2
`
	clean(t)
	file(t, "AWS_SHARED_CREDENTIALS_FILE", keys)
	file(t, "AWS_CONFIG_FILE", config)
	for profile, want := range map[string][3]string{
		"": {"d1", "", "https://shards.s3.us-west-2.amazonaws.com"}, "default": {"d1", "", "https://shards.s3.us-west-2.amazonaws.com"},
		"team": {"t1", "token1", "https://shards.team.example"},
	} {
		t.Setenv("AWS_PROFILE", profile)
		key, token, err := keyOf(t, false)
		must(t, err)
		s, err := OpenS3(Place{Bucket: "shards"}) // of the region and the server in the profile
		must(t, err)
		if got := [3]string{key, token, s.base}; got != want {
			t.Errorf("profile %q: %q, want %q", profile, got, want)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "e1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "e")
	if key, _, err := keyOf(t, false); err != nil || key != "e1" {
		t.Errorf("the environment's keys: %q, %v", key, err)
	}
}

func TestProfilesThatNeedOtherSourcesAreRefusedByName(t *testing.T) {
	for key, says := range map[string]string{
		"sso_session":        "aws configure export-credentials",
		"sso_start_url":      "aws configure export-credentials",
		"role_arn":           "the profile default has role_arn",
		"credential_process": "the profile default has credential_process",
		"login_session":      "the profile default has login_session",
		"services":           "set AWS_ENDPOINT_URL_S3 instead",
	} {
		clean(t)
		file(t, "AWS_CONFIG_FILE", "[default]\n"+key+" = x\n")
		var setting SettingError
		if _, _, err := keyOf(t, true); !errors.As(err, &setting) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// mockSTS speaks the protocol of a token service: it gives keys for one token.
func mockSTS(w http.ResponseWriter, q *http.Request) {
	_ = q.ParseForm()
	if q.Form.Get("WebIdentityToken") != "good" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Code>InvalidIdentityToken</Code><Message>no</Message></Error></ErrorResponse>`)
		return
	}
	fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
		<AccessKeyId>w1</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>token2</SessionToken><Expiration>%s</Expiration>
		</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

func TestAWebIdentityIsExchangedForKeys(t *testing.T) {
	clean(t)
	sts := record(t, false, mockSTS)
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	file(t, "AWS_WEB_IDENTITY_TOKEN_FILE", "good\n")
	if _, _, err := keyOf(t, false); err == nil || !strings.Contains(err.Error(), "set AWS_ROLE_ARN") {
		t.Errorf("without a role: %v", err)
	}
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
	key, token, err := keyOf(t, false)
	if err != nil || key != "w1" || token != "token2" {
		t.Errorf("%q, %q, %v", key, token, err)
	}
	sent := sts.all()[0].Form
	if sent.Get("Action") != "AssumeRoleWithWebIdentity" || sent.Get("RoleArn") != "arn:aws:iam::1:role/x" || sent.Get("RoleSessionName") != "relabel" {
		t.Errorf("asked with %v", sent)
	}
	file(t, "AWS_WEB_IDENTITY_TOKEN_FILE", "bad")
	var refused *Error
	var keys *KeysError
	if _, _, err := keyOf(t, false); !errors.As(err, &keys) || !errors.As(err, &refused) || refused.Code != "InvalidIdentityToken" || refused.Status != http.StatusBadRequest {
		t.Errorf("a wrong token: %v", err)
	}
	if asked := len(sts.all()); asked != 2 {
		t.Errorf("the token service was asked %d times", asked)
	}
}

func TestATokenServiceThatThrottlesIsAskedAgain(t *testing.T) {
	clean(t)
	asked := 0
	sts := record(t, false, func(w http.ResponseWriter, q *http.Request) {
		if asked++; asked > 1 {
			mockSTS(w, q)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>")
	})
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
	file(t, "AWS_WEB_IDENTITY_TOKEN_FILE", "good")
	if key, _, err := keyOf(t, false); err != nil || key != "w1" || asked != 2 {
		t.Errorf("%q, asked %d times: %v", key, asked, err)
	}
}

func TestAnAnswerWithoutKeysIsNotKept(t *testing.T) {
	clean(t)
	sts := record(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html/>") })
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
	file(t, "AWS_WEB_IDENTITY_TOKEN_FILE", "good")
	if key, _, err := keyOf(t, false); !errors.Is(err, ErrNoKeys) {
		t.Errorf("signed with %q: %v", key, err)
	}
}

func TestTheTokenServiceIsThatOfTheRegion(t *testing.T) {
	clean(t)
	sts := record(t, true, mockSTS)
	file(t, "AWS_WEB_IDENTITY_TOKEN_FILE", "good")
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
	s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"eu-west-1"}}, Transport: sts.transport()})
	must(t, err)
	for range 2 {
		must(t, s.sign(httpRequest(t)))
	}
	if all := sts.all(); len(all) != 1 || all[0].Host != "sts.eu-west-1.amazonaws.com" {
		t.Errorf("%d requests, the first to %s", len(all), all[0].Host)
	}
}

func httpRequest(t *testing.T) *http.Request {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://shards.example/x", http.NoBody)
	must(t, err)
	return q
}

// mockRole speaks the protocols of the services that give a machine the keys of its role.
func mockRole(ends time.Time) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.Method == http.MethodPut && q.URL.Path == "/latest/api/token" && q.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") != "":
			_, _ = io.WriteString(w, "session")
		case q.URL.Path == "/latest/meta-data/iam/security-credentials/" && q.Header.Get("X-Aws-Ec2-Metadata-Token") == "session":
			_, _ = io.WriteString(w, "builder\n")
		case q.URL.Path == "/latest/meta-data/iam/security-credentials/builder" && q.Header.Get("X-Aws-Ec2-Metadata-Token") == "session",
			q.URL.Path == "/container" && q.Header.Get("Authorization") == "pod":
			fmt.Fprintf(w, `{"AccessKeyId":"m1","SecretAccessKey":"s","Token":"token3","Expiration":%q}`, ends.UTC().Format(time.RFC3339))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func TestTheMachinesRoleIsUsedOnlyWithCloudKeys(t *testing.T) {
	clean(t)
	service := record(t, false, mockRole(time.Now().Add(time.Hour)))
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL)
	if _, _, err := keyOf(t, false); !errors.Is(err, ErrNoKeys) || len(service.all()) > 0 {
		t.Errorf("without the flag: %v, asked %d times", err, len(service.all()))
	}
	if key, token, err := keyOf(t, true); err != nil || key != "m1" || token != "token3" {
		t.Errorf("of an instance: %q, %q, %v", key, token, err)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	if _, _, err := keyOf(t, true); !errors.Is(err, ErrNoKeys) {
		t.Errorf("of an instance whose service is off: %v", err)
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", service.URL+"/container")
	file(t, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "pod\n")
	if key, _, err := keyOf(t, true); err != nil || key != "m1" {
		t.Errorf("of a container: %q, %v", key, err)
	}
	if _, _, err := keyOf(t, false); err == nil || !strings.Contains(err.Error(), "--cloud-credentials") {
		t.Errorf("of a container without the flag: %v", err)
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.example/container")
	if _, _, err := keyOf(t, true); err == nil || !strings.Contains(err.Error(), "must be an https URL") {
		t.Errorf("of another machine: %v", err)
	}
}

func TestAMachineWithoutARoleHasNoKeys(t *testing.T) {
	clean(t)
	service := record(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL)
	if _, _, err := keyOf(t, true); !errors.Is(err, ErrNoKeys) || IsMissing(err) {
		t.Errorf("%v", err)
	}
}

func TestKeysAreReplacedBeforeTheyEnd(t *testing.T) {
	for ends, want := range map[time.Duration]int{time.Hour: 1, time.Minute: 2} {
		clean(t)
		service := record(t, false, mockRole(time.Now().Add(ends)))
		t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", service.URL+"/container")
		t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pod")
		s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"r"}}, CloudKeys: true})
		must(t, err)
		for range 2 {
			must(t, s.sign(httpRequest(t)))
		}
		if got := len(service.all()); got != want {
			t.Errorf("keys that last %s were asked for %d times", ends, got)
		}
	}
}

func TestKeysThatCannotBeReplacedAreUsedUntilTheirEnd(t *testing.T) {
	for ends, usable := range map[time.Duration]bool{time.Minute: true, -time.Minute: false} {
		refused := errors.New("refused")
		var answer error
		keys := &cached[string]{fetch: func(context.Context) (string, time.Time, error) { return "one", time.Now().Add(ends), answer }}
		_, err := keys.get(t.Context())
		must(t, err)
		answer = refused
		if got, err := keys.get(t.Context()); usable && (got != "one" || err != nil) || !usable && !errors.Is(err, refused) {
			t.Errorf("keys that end in %s: %q, %v", ends, got, err)
		}
	}
}
