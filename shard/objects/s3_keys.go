package objects

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// awsKeys sign requests of S3.
type awsKeys struct{ id, secret, token string }

// keySource returns keys and when they end; the zero time: never.
type keySource = func(context.Context) (awsKeys, time.Time, error)

// elsewhere are the keys of a profile that select another source of keys, which relabel does not use.
var elsewhere = []string{"role_arn", "source_profile", "credential_source", "web_identity_token_file", "credential_process",
	"sso_session", "sso_start_url", "login_session"}

// keySource returns where keys come from: the environment, a web identity, the profile or, with CloudKeys, the machine's
// role. It asks no one for them yet.
func (s settings) keySource(client *http.Client, region string) (keySource, error) {
	named := awsKeys{
		id:     cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_ACCESS_KEY")),
		secret: cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SECRET_KEY")),
		token:  os.Getenv("AWS_SESSION_TOKEN"),
	}
	stored := awsKeys{s.profile["aws_access_key_id"], s.profile["aws_secret_access_key"], s.profile["aws_session_token"]}
	switch {
	case (named.id == "") != (named.secret == ""):
		return nil, SettingError("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both")
	case named.id != "":
		return fixed(named), nil
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		return s.webIdentity(client, region)
	case stored.id != "" && stored.secret != "" && s.profile["role_arn"] == "":
		return fixed(stored), nil
	}
	for _, key := range elsewhere {
		if s.profile[key] != "" {
			return nil, SettingError(fmt.Sprintf("the profile %s has %s, which relabel does not use: give it aws_access_key_id and aws_secret_access_key, "+
				"or set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN to keys that `aws configure export-credentials` prints", s.named, key))
		}
	}
	return s.machineKeys()
}

// fixed returns keys that do not end.
func fixed(keys awsKeys) keySource {
	return func(context.Context) (awsKeys, time.Time, error) { return keys, time.Time{}, nil }
}

// webIdentity exchanges the token in a file for keys of a role, at the token service of AWS or of the server that the
// environment names.
func (s settings) webIdentity(client *http.Client, region string) (keySource, error) {
	role := os.Getenv("AWS_ROLE_ARN")
	if role == "" {
		return nil, SettingError("AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN: set AWS_ROLE_ARN to the role of the web identity")
	}
	service := "sts"
	if s.fips {
		service = "sts-fips"
	}
	address := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), os.Getenv("AWS_ENDPOINT_URL"), "https://"+service+"."+region+"."+domainOf(region))
	return func(ctx context.Context) (keys awsKeys, ends time.Time, err error) {
		body, err := askForKeys(ctx, client, func(ctx context.Context) (*http.Request, error) {
			token, err := tokenFile("AWS_WEB_IDENTITY_TOKEN_FILE")
			if err != nil {
				return nil, err
			}
			return formRequest(ctx, address, url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role},
				"RoleSessionName": {cmp.Or(os.Getenv("AWS_ROLE_SESSION_NAME"), "relabel")}, "WebIdentityToken": {token}})
		})
		if err != nil {
			return keys, ends, err
		}
		var given struct {
			Keys struct {
				AccessKeyId, SecretAccessKey, SessionToken string
				Expiration                                 time.Time
			} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
		}
		if err := xml.Unmarshal(body, &given); err != nil || given.Keys.AccessKeyId == "" {
			return keys, ends, fmt.Errorf("the token service's answer has no keys: %w", errors.Join(err, ErrNoKeys))
		}
		k := given.Keys
		if k.AccessKeyId == "" || k.Expiration.IsZero() {
			return keys, ends, fmt.Errorf("the token service's answer: %w", ErrNoKeys)
		}
		return awsKeys{k.AccessKeyId, k.SecretAccessKey, k.SessionToken}, k.Expiration, nil
	}, nil
}

// tokenFile reads the token in the file that a variable names.
func tokenFile(variable string) (string, error) {
	token, err := os.ReadFile(os.Getenv(variable))
	if err != nil {
		return "", SettingError(variable + " names a file that cannot be read: " + err.Error())
	}
	return strings.TrimSpace(string(token)), nil
}

// formRequest returns a request that posts a form.
func formRequest(ctx context.Context, address string, form url.Values) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, SettingError("the address of the server of keys is not a URL: check AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL or AZURE_AUTHORITY_HOST") // it may have a password
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return q, nil
}
