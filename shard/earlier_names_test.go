package shard

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/buckettest"
)

// Exports of versions that named their fields and a file differently are read and verified.
func TestAnExportWithEarlierNamesOpens(t *testing.T) {
	t.Parallel()
	flagged, other := someTrajectory(1, 0, 4), someTrajectory(1, 2, 3)
	flagged.Flagged = []relabel.FlaggedState{{T: 0, Flag: "leak"}}
	s := newFixedStore(flagged, other)
	s.newExport("x", relabel.ExportSelection{Submitted: true, ExcludeFlags: []string{relabel.AnyFlag}})
	x := newTestExporter(t, s)
	e := export(t, s, x)
	if r := check(t, e.Directory, nil); len(r.Problems) > 0 {
		t.Fatalf("before: %+v", r)
	}
	manifest := filepath.Join(e.Directory, manifestName)
	raw, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	earlier := strings.NewReplacer(`"excluded":`, `"left_out":`, `"exclude_flags":`, `"leave_out_flags":`).Replace(string(raw))
	if err := os.WriteFile(manifest, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(e.Directory, excludedName), filepath.Join(e.Directory, relabel.EarlierExcludedName)); err != nil {
		t.Fatal(err)
	}
	m, err := x.Manifest(context.Background(), e)
	if err != nil || len(m.Excluded) == 0 || len(m.Selection.ExcludeFlags) != 1 {
		t.Errorf("manifest %+v, %v", m, err)
	}
	if r := check(t, e.Directory, nil); len(r.Problems) > 0 || r.Counts["excluded"] != 0 {
		t.Errorf("%+v", r)
	}
	file, err := x.Open(context.Background(), e, excludedName)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(file)
	if err != nil || len(lines) == 0 || file.Close() != nil {
		t.Errorf("%q, %v", lines, err)
	}
}

// An earlier version wrote left_out.jsonl and was stopped before it published the export.
func TestAFinishThatAnEarlierVersionStartedLeavesNoFileOfTheEarlierName(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	for name, destination := range map[string]string{"folder": "", "bucket": server.URL("shards/team")} {
		t.Run(name, func(t *testing.T) {
			s := newFixedStore(someTrajectory(1, 0, 4))
			s.newExport("x", relabel.ExportSelection{})
			s.export.Destination = destination
			x := newTestExporter(t, s)
			if destination != "" {
				x = bucketExporter(t, s)
			}
			at, err := x.storage(s.export)
			if err != nil {
				t.Fatal(err)
			}
			earlier := filepath.Join(t.TempDir(), relabel.EarlierExcludedName)
			must(t, os.WriteFile(earlier, nil, 0o600))
			must(t, at.put(t.Context(), relabel.EarlierExcludedName, earlier))
			e := export(t, s, x)
			if _, err := at.open(t.Context(), relabel.EarlierExcludedName); relabel.CodeOf(err) != relabel.CodeNotFound {
				t.Errorf("%s: %v", relabel.EarlierExcludedName, err)
			}
			if destination == "" {
				if r := check(t, e.Directory, nil); len(r.Problems) > 0 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}
