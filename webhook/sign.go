package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"relabel"
)

// secretPrefix begins the secrets of Standard Webhooks; the rest is the key in base64.
const secretPrefix = "whsec_"

// The allowed lengths of keys, in bytes.
const (
	shortestKey = 24
	longestKey  = 64
)

// key returns the signing key. It fails with CodeSecretMissing if the receivers' libraries could not
// read the secret.
func key(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	b, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(b) < shortestKey || len(b) > longestKey {
		return nil, relabel.Errorf(relabel.CodeSecretMissing, "the webhook's secret is not %s and %d to %d bytes in base64", secretPrefix, shortestKey, longestKey)
	}
	return b, nil
}

// signature signs a body under an id and a time, in seconds since 1970.
func signature(key []byte, id string, seconds int64, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", id, seconds)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
