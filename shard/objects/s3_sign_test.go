package objects

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The signatures are those of the examples in AWS's description of Signature Version 4 for S3.
func TestRequestsAreSignedAsAWSDescribes(t *testing.T) {
	for query, want := range map[string]string{
		"lifecycle=":          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		"max-keys=2&prefix=J": "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)))
			s := &S3{region: "us-east-1", keys: &cached[awsKeys]{fetch: fixed(awsKeys{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"})}}
			q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://examplebucket.s3.amazonaws.com?"+query, http.NoBody)
			must(t, err)
			must(t, s.signRequest(q))
			if got := q.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+want) {
				t.Errorf("%s: %s", query, got)
			}
		})
	}
}
