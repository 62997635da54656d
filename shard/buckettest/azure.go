package buckettest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
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
	keys, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential("http://"+a.address+"/"+account, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range containers {
		if _, err := client.CreateContainer(context.Background(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// URL returns the destination for a path of container and prefix.
func (a *Azure) URL(path string) string {
	return "azblob://" + path + "?protocol=http&domain=" + a.address
}
