package objects

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel/shard/buckettest"
)

// realAzure returns a container of a real server, whose keys are in the environment.
func realAzure(t *testing.T) (*Azure, *url.URL) {
	t.Helper()
	clean(t)
	destination, err := url.Parse(buckettest.StartAzure(t, "shards").URL("shards"))
	must(t, err)
	a, err := OpenAzure(Place{Bucket: "shards", Options: destination.Query()})
	must(t, err)
	return a, destination
}

func TestAzureKeepsBlobsWithOddNames(t *testing.T) {
	a, _ := realAzure(t)
	keepsNames(t, a)
}

func TestAzureKeepsAFileLargerThanABlock(t *testing.T) {
	a, _ := realAzure(t)
	keepsParts(t, a)
	must(t, a.Put(t.Context(), "empty", bytes.NewReader(nil), 0))
	f, err := a.Open(t.Context(), "empty")
	must(t, err)
	if text := read(t, f); len(text) != 0 {
		t.Errorf("an empty file has %q", text)
	}
}

func TestAFailedUploadToAzureIsNotVisible(t *testing.T) {
	a, _ := realAzure(t)
	size := int64(partSize + 1)
	if err := a.Put(t.Context(), "large", breaking{bytes.NewReader(bytesOf(int(size))), partSize}, size); !errors.Is(err, errBroken) {
		t.Errorf("it failed for %v", err)
	}
	if _, err := a.Size(t.Context(), "large"); !IsMissing(err) {
		t.Errorf("it is there: %v", err)
	}
}

// accountSAS signs a shared access signature for all of an account.
func accountSAS(t *testing.T, account, key string) string {
	t.Helper()
	secret, err := base64.StdEncoding.DecodeString(key)
	must(t, err)
	ends := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05Z")
	signed := hmac.New(sha256.New, secret)
	signed.Write([]byte(account + "\nrwdlac\nb\nsco\n\n" + ends + "\n\nhttps,http\n2018-11-09\n"))
	return url.Values{"sp": {"rwdlac"}, "ss": {"b"}, "srt": {"sco"}, "se": {ends}, "spr": {"https,http"}, "sv": {"2018-11-09"},
		"sig": {base64.StdEncoding.EncodeToString(signed.Sum(nil))}}.Encode()
}

func TestAzureTakesASharedAccessSignature(t *testing.T) {
	_, destination := realAzure(t)
	account, key := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	t.Setenv("AZURE_STORAGE_KEY", "")
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "?"+accountSAS(t, account, key))
	a, err := OpenAzure(Place{Bucket: "shards", Options: destination.Query()})
	must(t, err)
	keepsNames(t, a)
	keepsParts(t, a)
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", strings.Replace(os.Getenv("AZURE_STORAGE_SAS_TOKEN"), "sig=", "sig=x", 1))
	a, err = OpenAzure(Place{Bucket: "shards", Options: destination.Query()})
	must(t, err)
	var refused *Error
	_, err = a.Size(t.Context(), "x")
	if !errors.As(err, &refused) || refused.Status != 403 || strings.Contains(err.Error(), "sig=") {
		t.Errorf("a wrong signature: %v", err)
	}
}

func TestAzureTakesAConnectionString(t *testing.T) {
	_, destination := realAzure(t)
	account, key := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "")
	t.Setenv("AZURE_STORAGE_KEY", "")
	server := "BlobEndpoint=http://" + destination.Query().Get("domain") + "/" + account
	for _, keys := range []string{"AccountName=" + account + ";AccountKey=" + key, "SharedAccessSignature=" + accountSAS(t, account, key)} {
		t.Setenv("AZURE_STORAGE_CONNECTION_STRING", server+";"+keys+";")
		a, err := OpenAzure(Place{Bucket: "shards"})
		must(t, err)
		keepsNames(t, a)
	}
	for options, says := range map[string]string{
		"":                      "",
		"domain=other.example":  "remove the option domain",
		"storage_account=other": "of another account",
	} {
		t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=mine;AccountKey=a2V5")
		query, err := url.ParseQuery(options)
		must(t, err)
		a, err := OpenAzure(Place{Bucket: "shards", Options: query})
		switch {
		case says == "" && (err != nil || a.base != "https://mine.blob.core.windows.net/shards"):
			t.Errorf("%v, %v", a, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v", options, err)
		}
	}
}

func TestALostConnectionDoesNotShowTheSignature(t *testing.T) {
	clean(t)
	server := record(t, false, nil)
	server.Close()
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint="+server.URL+";SharedAccessSignature=sig=secret")
	a, err := OpenAzure(Place{Bucket: "shards"})
	must(t, err)
	if err := a.Delete(t.Context(), "x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestBlocksOfConcurrentUploadsHaveDifferentNames(t *testing.T) {
	clean(t)
	server := record(t, false, nil)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint="+server.URL+";SharedAccessSignature=sig=x")
	a, err := OpenAzure(Place{Bucket: "shards"})
	must(t, err)
	for range 2 {
		must(t, a.Put(t.Context(), "large", bytes.NewReader(bytesOf(partSize+1)), partSize+1))
	}
	names := map[string]bool{}
	for _, q := range server.all() {
		if name := q.URL.Query().Get("blockid"); name != "" {
			names[name] = true
		}
	}
	if len(names) != 4 {
		t.Errorf("4 blocks have %d names", len(names))
	}
}

func TestAzureListsAllPages(t *testing.T) {
	clean(t)
	server := record(t, false, func(w http.ResponseWriter, q *http.Request) {
		name, next := "p/1", "2!ab&c="
		if q.URL.Query().Get("marker") == next {
			name, next = "p/2", ""
		}
		fmt.Fprintf(w, "<EnumerationResults><Blobs><Blob><Name>%s</Name></Blob></Blobs><NextMarker>%s</NextMarker></EnumerationResults>", name, html.EscapeString(next))
	})
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint="+server.URL+";SharedAccessSignature=sig=x")
	a, err := OpenAzure(Place{Bucket: "shards"})
	must(t, err)
	first, next, err := a.List(t.Context(), "p/", "")
	must(t, err)
	second, end, err := a.List(t.Context(), "p/", next)
	must(t, err)
	if !slices.Equal(append(first, second...), []string{"p/1", "p/2"}) || end != "" {
		t.Errorf("%q, then %q and more at %q", first, second, end)
	}
	for _, q := range server.all() {
		if got := q.URL.Query(); got.Get("prefix") != "p/" || got.Get("comp") != "list" || got.Get("restype") != "container" || got.Get("sig") != "x" {
			t.Errorf("asked with %v", got)
		}
	}
}
