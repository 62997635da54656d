package objects

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	hashHeader = "X-Amz-Content-Sha256"
	algorithm  = "AWS4-HMAC-SHA256"
)

// emptyHash is the SHA-256 of no bytes.
var emptyHash = hexHash("")

// signRequest signs a request with AWS's Signature Version 4.
func (s *S3) signRequest(q *http.Request) error {
	keys, err := s.keys.get(q.Context())
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	if q.Header.Get(hashHeader) == "" {
		q.Header.Set(hashHeader, emptyHash)
	}
	q.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	if keys.token != "" {
		q.Header.Set("X-Amz-Security-Token", keys.token)
	}
	names, canonical := canonicalRequest(q)
	scope := now.Format("20060102") + "/" + s.region + "/s3/aws4_request"
	text := strings.Join([]string{algorithm, now.Format("20060102T150405Z"), scope, hexHash(canonical)}, "\n")
	key := []byte("AWS4" + keys.secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	q.Header.Set("Authorization", algorithm+" Credential="+keys.id+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(mac(key, text)))
	return nil
}

// canonicalRequest returns the names of the signed headers, and the text of a request whose hash is signed.
func canonicalRequest(q *http.Request) (names, text string) {
	signed := map[string]string{"host": q.Host}
	for name, values := range q.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") || name == "content-type" {
			signed[name] = strings.TrimSpace(values[0])
		}
	}
	sorted := slices.Sorted(maps.Keys(signed))
	var headers strings.Builder
	for _, name := range sorted {
		headers.WriteString(name + ":" + signed[name] + "\n")
	}
	path := q.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	names = strings.Join(sorted, ";")
	return names, strings.Join([]string{q.Method, path, q.URL.RawQuery, headers.String(), names, q.Header.Get(hashHeader)}, "\n")
}

func hexHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
