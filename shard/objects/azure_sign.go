package objects

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// azureSignature returns what signs requests: the account's key, its shared access signature, or a token of an identity.
func (p Place) azureSignature(account azureAccount, client *http.Client) (func(*http.Request) error, error) {
	switch {
	case account.key != nil:
		return account.signShared, nil
	case account.sas != "":
		return account.addSAS, nil
	}
	source, err := p.azureIdentity(client)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(account.server, "https:") {
		return nil, SettingError("tokens of Azure are sent with https only: use protocol=https, or a key of the storage account")
	}
	tokens := &cached[string]{fetch: source}
	return func(q *http.Request) error {
		token, err := tokens.get(q.Context())
		q.Header.Set("X-Ms-Version", azureVersion)
		q.Header.Set("Authorization", "Bearer "+token)
		return err
	}, nil
}

// addSAS adds the shared access signature to a request's query.
func (a azureAccount) addSAS(q *http.Request) error {
	q.Header.Set("X-Ms-Version", azureVersion)
	if q.URL.RawQuery != "" {
		q.URL.RawQuery += "&"
	}
	q.URL.RawQuery += a.sas
	return nil
}

// signShared signs a request with the account's key.
func (a azureAccount) signShared(q *http.Request) error {
	q.Header.Set("X-Ms-Version", azureVersion)
	q.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	length := ""
	if q.ContentLength > 0 {
		length = strconv.FormatInt(q.ContentLength, 10)
	}
	lines := []string{q.Method, "", "", length, "", q.Header.Get("Content-Type"), "", "", "", "", "", q.Header.Get("Range")}
	signed := map[string]string{}
	for name, values := range q.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-ms-") {
			signed[name] = values[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(signed)) {
		lines = append(lines, name+":"+signed[name])
	}
	lines = append(lines, "/"+a.name+q.URL.EscapedPath())
	query := q.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		lines = append(lines, strings.ToLower(name)+":"+query.Get(name))
	}
	h := hmac.New(sha256.New, a.key)
	h.Write([]byte(strings.Join(lines, "\n")))
	q.Header.Set("Authorization", "SharedKey "+a.name+":"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	return nil
}
