package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"relabel/policy"
)

func TestPagesOfAFolderAreLogged(t *testing.T) {
	for folder, logged := range map[string]bool{"": false, t.TempDir(): true} {
		t.Setenv("RELABEL_WEB_DIR", folder)
		var log bytes.Buffer
		if files := pageFiles(zerolog.New(&log)); (files != nil) != logged || strings.Contains(log.String(), "RELABEL_WEB_DIR is set") != logged {
			t.Errorf("%q: pages of %v, logged %s", folder, files, &log)
		}
	}
}

// Exports must not have the keys of destinations, in any variable.
func TestKeysOfDestinationsAreSecrets(t *testing.T) {
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING"} {
		t.Setenv(name, "hidden")
		if ownSecrets(policy.Secrets{})[name] != "hidden" {
			t.Errorf("%s is not among the secrets of this process", name)
		}
	}
}
