package cli

import (
	"strings"
	"testing"

	"relabel"
)

func TestAnExportWithoutFilesSaysWhy(t *testing.T) {
	for _, c := range []struct {
		export relabel.Export
		want   string
	}{
		{relabel.Export{State: relabel.ExportFailed, Failure: "no state is left"}, "the export failed and has no files: no state is left"},
		{relabel.Export{State: relabel.ExportCancelled}, "the export is cancelled"},
		{relabel.Export{State: relabel.ExportRunning, Directory: t.TempDir()}, "the export is running"},
		{relabel.Export{State: relabel.ExportDone, Directory: "s3://bucket/e"}, "its files are in s3://bucket/e"},
	} {
		if err := hasFiles(c.export); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.export.State, err)
		}
	}
	if err := hasFiles(relabel.Export{State: relabel.ExportDone, Directory: t.TempDir()}); err != nil {
		t.Error(err)
	}
}
