package objects

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// mockAuthority speaks the protocol of a server of OAuth and of a metadata service: it gives a token for one secret, one
// assertion, and one machine.
func mockAuthority(w http.ResponseWriter, q *http.Request) {
	_ = q.ParseForm()
	proven := q.Form.Get("client_secret") == "s" || q.Form.Get("client_assertion") == "signed"
	switch {
	case q.URL.Path == "/tenant/oauth2/v2.0/token" && q.Form.Get("client_id") == "app" && proven && q.Form.Get("scope") == "https://storage.azure.com/.default":
		fmt.Fprintf(w, `{"token_type":"Bearer","expires_in":3599,"access_token":"t1"}`)
	case q.URL.Path == "/metadata/identity/oauth2/token" && q.Header.Get("Metadata") == "true" && q.Form.Get("resource") == "https://storage.azure.com/":
		fmt.Fprintf(w, `{"expires_in":"86399","access_token":"m%s"}`, q.Form.Get("client_id"))
	default:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":"no"}`)
	}
}

// authorized sends a request to a container and returns its Authorization.
func authorized(t *testing.T, cloudKeys bool) (string, error) {
	t.Helper()
	server := record(t, true, nil)
	a, err := OpenAzure(Place{Bucket: "shards", Options: url.Values{"storage_account": {"abc"}}, Transport: server.transport(), CloudKeys: cloudKeys})
	if err == nil {
		err = a.Delete(t.Context(), "x")
	}
	if err != nil {
		return "", err
	}
	return server.all()[len(server.all())-1].Header.Get("Authorization"), nil
}

// useApplication names a registered application and a server of tokens in the environment.
func useApplication(t *testing.T) *recorder {
	t.Helper()
	clean(t)
	authority := record(t, false, mockAuthority)
	t.Setenv("AZURE_AUTHORITY_HOST", authority.URL)
	t.Setenv("AZURE_CLIENT_ID", "app")
	t.Setenv("AZURE_TENANT_ID", "tenant")
	return authority
}

// throughAuthority returns a container whose requests all reach one server, also those for tokens.
func throughAuthority(t *testing.T, cloudKeys bool) (*Azure, *recorder) {
	t.Helper()
	server := record(t, true, func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.Host, "login.") {
			mockAuthority(w, q)
		}
	})
	a, err := OpenAzure(Place{Bucket: "shards", Options: url.Values{"storage_account": {"abc"}}, Transport: server.transport(), CloudKeys: cloudKeys})
	must(t, err)
	return a, server
}

func TestASecretOfAnApplicationIsExchangedForATokenOnce(t *testing.T) {
	useApplication(t)
	t.Setenv("AZURE_AUTHORITY_HOST", "")
	t.Setenv("AZURE_CLIENT_SECRET", "s")
	a, server := throughAuthority(t, false)
	for range 2 {
		must(t, a.Delete(t.Context(), "x"))
	}
	all := server.all()
	if len(all) != 3 || all[0].Host != "login.microsoftonline.com" || all[1].Host != "abc.blob.core.windows.net" {
		t.Fatalf("%d requests, the first to %s, then %s", len(all), all[0].Host, all[1].Host)
	}
	for _, q := range all[1:] {
		if q.Header.Get("Authorization") != "Bearer t1" || q.Header.Get("X-Ms-Version") == "" {
			t.Errorf("sent with %v", q.Header)
		}
	}
	t.Setenv("AZURE_CLIENT_SECRET", "wrong")
	a, _ = throughAuthority(t, false)
	var keys *KeysError
	var refused *Error
	if err := a.Delete(t.Context(), "x"); !errors.As(err, &keys) || !errors.As(err, &refused) || refused.Code != "invalid_client" {
		t.Errorf("a wrong secret: %v", err)
	}
}

func TestAWorkloadsTokenIsExchangedWithCloudKeys(t *testing.T) {
	useApplication(t)
	t.Setenv("AZURE_AUTHORITY_HOST", "")
	file(t, "AZURE_FEDERATED_TOKEN_FILE", "signed\n")
	a, server := throughAuthority(t, true)
	must(t, a.Delete(t.Context(), "x"))
	all := server.all()
	if all[0].Form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || all[1].Header.Get("Authorization") != "Bearer t1" {
		t.Errorf("asked with %v, sent with %v", all[0].Form, all[1].Header)
	}
	if _, err := authorized(t, false); err == nil || !strings.Contains(err.Error(), "--cloud-credentials") {
		t.Errorf("without the flag: %v", err)
	}
}

func TestTheMachinesIdentityIsUsedOnlyWithCloudKeys(t *testing.T) {
	clean(t)
	service := record(t, false, mockAuthority)
	usual := azureMetadata
	azureMetadata = service.URL
	t.Cleanup(func() { azureMetadata = usual })
	if _, err := authorized(t, false); !errors.Is(err, ErrNoKeys) || len(service.all()) > 0 {
		t.Errorf("without the flag: %v, asked %d times", err, len(service.all()))
	}
	for id, want := range map[string]string{"": "Bearer m", "user": "Bearer muser"} {
		t.Setenv("AZURE_CLIENT_ID", id)
		if got, err := authorized(t, true); err != nil || got != want {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
	azureMetadata = record(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }).URL
	if _, err := authorized(t, true); !errors.Is(err, ErrNoKeys) || IsMissing(err) {
		t.Errorf("a machine without identity: %v", err)
	}
}

func TestIdentitiesThatRelabelDoesNotUseAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		environ   map[string]string
		cloudKeys bool
		says      string
	}{
		{map[string]string{"AZURE_CLIENT_CERTIFICATE_PATH": "c.pem"}, false, "AZURE_CLIENT_CERTIFICATE_PATH"},
		{map[string]string{"AZURE_USERNAME": "u"}, false, "AZURE_USERNAME"},
		{map[string]string{"IDENTITY_ENDPOINT": "http://127.0.0.1"}, true, "IDENTITY_ENDPOINT"},
		{map[string]string{}, false, "set AZURE_CLIENT_SECRET"},
		{map[string]string{"AZURE_CLIENT_SECRET": "s", "AZURE_TENANT_ID": ""}, false, "set AZURE_TENANT_ID"},
		{map[string]string{"AZURE_CLIENT_SECRET": "s", "AZURE_STORAGE_PROTOCOL": "http"}, false, "https only"},
		{map[string]string{"AZURE_STORAGE_IS_CDN": "yes"}, false, "AZURE_STORAGE_IS_CDN must be true or false"},
		{map[string]string{"AZURE_STORAGE_PROTOCOL": "ftp"}, false, "must be http or https"},
		{map[string]string{"AZURE_STORAGE_ACCOUNT": "abc", "AZURE_STORAGE_KEY": "not base64!"}, false, "AZURE_STORAGE_KEY is not a key"},
		{map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "AccountName=abc"}, false, "AccountKey, or SharedAccessSignature"},
		{map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "AccountKey=a2V5"}, false, "needs AccountName or BlobEndpoint"},
	} {
		useApplication(t)
		for name, value := range c.environ {
			t.Setenv(name, value)
		}
		var setting SettingError
		if _, err := authorized(t, c.cloudKeys); !errors.As(err, &setting) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.environ, err)
		}
	}
}

func TestEachOptionOfAzureChangesWhereRequestsAreSent(t *testing.T) {
	for _, c := range []struct {
		options string
		environ map[string]string
		want    string
	}{
		{"", nil, "https://mine.blob.core.windows.net/cc"},
		{"storage_account=abc", nil, "https://abc.blob.core.windows.net/cc"},
		{"domain=blob.example", nil, "https://mine.blob.example/cc"},
		{"domain=blob.example&protocol=http", nil, "http://mine.blob.example/cc"},
		{"domain=blob.example&localemu=true", nil, "https://blob.example/mine/cc"},
		{"domain=127.0.0.1:10000&protocol=http", nil, "http://127.0.0.1:10000/mine/cc"},
		{"", map[string]string{"AZURE_STORAGE_DOMAIN": "blob.example", "AZURE_STORAGE_PROTOCOL": "http"}, "http://mine.blob.example/cc"},
		{"", map[string]string{"AZURE_STORAGE_DOMAIN": "blob.example", "AZURE_STORAGE_IS_LOCAL_EMULATOR": "true"}, "https://blob.example/mine/cc"},
		{"", map[string]string{"AZURE_STORAGE_DOMAIN": "cdn.example", "AZURE_STORAGE_IS_CDN": "1"}, "https://cdn.example/cc"},
	} {
		clean(t)
		t.Setenv("AZURE_STORAGE_ACCOUNT", "mine")
		t.Setenv("AZURE_STORAGE_KEY", "a2V5")
		for name, value := range c.environ {
			t.Setenv(name, value)
		}
		query, err := url.ParseQuery(c.options)
		must(t, err)
		server := record(t, strings.HasPrefix(c.want, "https"), nil)
		a, err := OpenAzure(Place{Bucket: "cc", Options: query, Transport: server.transport()})
		must(t, err)
		must(t, a.Delete(t.Context(), "x"))
		q := server.all()[0]
		if got, scheme := q.Host+q.URL.Path, map[bool]string{true: "https://", false: "http://"}[q.TLS != nil]; scheme+got != c.want+"/x" {
			t.Errorf("%s, %v: %s%s, want %s/x", c.options, c.environ, scheme, got, c.want)
		}
		if !strings.HasPrefix(q.Header.Get("Authorization"), "SharedKey mine:") {
			t.Errorf("%s: signed as %s", c.options, q.Header.Get("Authorization"))
		}
	}
	clean(t)
	if _, err := OpenAzure(Place{Bucket: "cc"}); err == nil || !strings.Contains(err.Error(), "AZURE_STORAGE_ACCOUNT") {
		t.Errorf("without an account: %v", err)
	}
}
