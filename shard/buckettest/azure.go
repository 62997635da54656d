package buckettest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// account is the name of the server's only account, whose key is random.
const account = "relabeltest"

// Azure is a server with the API of Azure's blob storage.
type Azure struct{ server }

// StartAzure starts a server with the given containers and sets its keys in the environment. It
// stops with the test.
func StartAzure(t testing.TB, containers ...string) *Azure {
	t.Helper()
	path := program(t, "azure-server.sh")
	folder, secret := t.TempDir(), make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	key := base64.StdEncoding.EncodeToString(secret)
	a := &Azure{}
	a.server = server{t: t, env: []string{"AZURITE_ACCOUNTS=" + account + ":" + key}, args: func(address string) []string {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		return []string{path, "--blobHost", host, "--blobPort", port, "--location", folder, "--silent", "--disableTelemetry", "--skipApiVersionCheck"}
	}}
	a.startSomewhere()
	t.Setenv("AZURE_STORAGE_ACCOUNT", account)
	t.Setenv("AZURE_STORAGE_KEY", key)
	for _, name := range containers {
		a.create(name, secret)
	}
	return a
}

// create creates a container, with a request that the account's key signs.
func (a *Azure) create(name string, key []byte) {
	a.t.Helper()
	path := "/" + account + "/" + name
	q, err := http.NewRequest(http.MethodPut, "http://"+a.address+path+"?restype=container", http.NoBody)
	if err != nil {
		a.t.Fatal(err)
	}
	const version = "2022-11-02"
	date := time.Now().UTC().Format(http.TimeFormat)
	signed := hmac.New(sha256.New, key)
	fmt.Fprintf(signed, "PUT%sx-ms-date:%s\nx-ms-version:%s\n/%s%s\nrestype:container", strings.Repeat("\n", 12), date, version, account, path)
	q.Header.Set("X-Ms-Date", date)
	q.Header.Set("X-Ms-Version", version)
	q.Header.Set("Authorization", "SharedKey "+account+":"+base64.StdEncoding.EncodeToString(signed.Sum(nil)))
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		a.t.Fatalf("the container %s is not created: %s", name, answer.Status)
	}
}

// URL returns the destination for a path of container and prefix.
func (a *Azure) URL(path string) string {
	return "azblob://" + path + "?protocol=http&domain=" + a.address
}
