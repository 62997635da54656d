package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// storageScope is what tokens are for.
const storageScope = "https://storage.azure.com/"

// azureMetadata is the address of the metadata service of virtual machines, except in tests.
var azureMetadata = "http://169.254.169.254"

// tokenSource returns a token and when it ends.
type tokenSource = func(context.Context) (string, time.Time, error)

// azureIdentity returns the source of tokens: the registered application that the environment names or, with CloudKeys,
// the machine's identity. It asks no one for them yet.
func (p Place) azureIdentity(client *http.Client) (tokenSource, error) {
	id := strings.TrimSpace(os.Getenv("AZURE_CLIENT_ID"))
	secret, federated := os.Getenv("AZURE_CLIENT_SECRET"), os.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	switch {
	case id == "" && !p.CloudKeys:
		return func(context.Context) (string, time.Time, error) { return "", time.Time{}, ErrNoKeys }, nil
	case id != "" && secret != "":
		return application(client, id, func(form url.Values) error {
			form.Set("client_secret", secret)
			return nil
		})
	case os.Getenv("AZURE_CLIENT_CERTIFICATE_PATH") != "", os.Getenv("AZURE_USERNAME") != "":
		return nil, SettingError("relabel uses no certificates (AZURE_CLIENT_CERTIFICATE_PATH) and no user names (AZURE_USERNAME) for Azure: set AZURE_CLIENT_SECRET, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN")
	case !p.CloudKeys && federated != "":
		return nil, SettingError("relabel uses a workload identity (AZURE_FEDERATED_TOKEN_FILE) only with --cloud-credentials: give serve and worker that flag")
	case !p.CloudKeys:
		return nil, SettingError("AZURE_CLIENT_ID is set without AZURE_CLIENT_SECRET: set AZURE_CLIENT_SECRET")
	case id != "" && federated != "":
		return application(client, id, func(form url.Values) error {
			assertion, err := tokenFile("AZURE_FEDERATED_TOKEN_FILE")
			form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
			form.Set("client_assertion", assertion)
			return err
		})
	case os.Getenv("IDENTITY_ENDPOINT") != "" || os.Getenv("MSI_ENDPOINT") != "":
		return nil, SettingError("relabel does not use the identity of App Service, Container Apps, Arc or Service Fabric (IDENTITY_ENDPOINT): set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET, or AZURE_STORAGE_KEY")
	}
	return func(ctx context.Context) (string, time.Time, error) { return managedIdentity(ctx, id) }, nil
}

// application returns the source of tokens of a registered application, which add proves to be.
func application(client *http.Client, id string, add func(form url.Values) error) (tokenSource, error) {
	tenant := os.Getenv("AZURE_TENANT_ID")
	if tenant == "" {
		return nil, SettingError("AZURE_CLIENT_ID is set without AZURE_TENANT_ID: set AZURE_TENANT_ID")
	}
	authority := strings.TrimRight(cmp.Or(os.Getenv("AZURE_AUTHORITY_HOST"), "https://login.microsoftonline.com"), "/")
	address := authority + "/" + url.PathEscape(tenant) + "/oauth2/v2.0/token"
	return func(ctx context.Context) (token string, ends time.Time, err error) {
		body, err := askForKeys(ctx, client, func(ctx context.Context) (*http.Request, error) {
			form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "scope": {storageScope + ".default"}}
			if err := add(form); err != nil {
				return nil, err
			}
			return formRequest(ctx, address, form)
		})
		if err != nil {
			return "", ends, err
		}
		return decodeToken(body)
	}, nil
}

// managedIdentity asks the metadata service of a virtual machine for a token. A machine that has no such service has no
// keys.
func managedIdentity(ctx context.Context, id string) (string, time.Time, error) {
	query := url.Values{"api-version": {"2018-02-01"}, "resource": {storageScope}}
	if id != "" {
		query.Set("client_id", id)
	}
	body, err := askForKeys(ctx, metadata, func(ctx context.Context) (*http.Request, error) {
		return machineRequest(ctx, http.MethodGet, azureMetadata+"/metadata/identity/oauth2/token?"+query.Encode(), "Metadata", "true")
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("%w: the machine's metadata service: %w", ErrNoKeys, err)
	}
	return decodeToken(body)
}

// decodeToken decodes an answer of OAuth.
func decodeToken(body []byte) (string, time.Time, error) {
	var given struct {
		Token string      `json:"access_token"`
		Lasts json.Number `json:"expires_in"` // seconds
	}
	if err := json.Unmarshal(body, &given); err != nil || given.Token == "" {
		return "", time.Time{}, fmt.Errorf("the answer has no token: %w", errors.Join(err, ErrNoKeys))
	}
	seconds, err := given.Lasts.Int64()
	return given.Token, time.Now().Add(time.Duration(seconds) * time.Second), err
}
