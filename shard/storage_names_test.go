package shard

import (
	"context"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/buckettest"
)

func TestOnlyAnExportsFilesAreRemovedFromABucket(t *testing.T) {
	for _, name := range []string{"manifest.json", "README.md", "excluded.jsonl", "left_out.jsonl", ".tried", "messages/00000.parquet", "packed/00012.idx.parquet",
		"preference/00000.parquet", "prompt_completion/00001.parquet", "arrow/00000.arrow", "arrow/state.json", "arrow/dataset_info.json", "chat/00000.jsonl", "axolotl.yaml", "verl_rows.py", "trl.yaml"} {
		if !isExported(name) {
			t.Errorf("%s of an export would stay", name)
		}
	}
	for _, name := range []string{"notes.md", "messages/mine.parquet", "other/00000.parquet", "chat/notes.jsonl", "linear/x/00000.parquet", "state.json", "my/axolotl.yaml"} {
		if isExported(name) {
			t.Errorf("%s of somebody else would be removed", name)
		}
	}
}

func TestNamesInABucketAreThoseOfEarlierVersions(t *testing.T) {
	buckettest.UseKeys(t)
	id := relabel.NewID()
	for prefix, want := range map[string]struct{ s3, azure string }{
		"":                     {"", ""},
		"a/b c%2Bü":            {"a/b c+ü/", "a/b c+ü/"},
		"a%22b%23c%25d%3Fe%5C": {`a"b#c%d?e\/`, "a__0x22__b__0x23__c__0x25__d__0x3f__e__0x5c__/"},
		"a%01b%7F":             {"a__0x1__b\x7f/", "a__0x1__b__0x7f__/"},
		"a../b/..c":            {"a..__0x2f__b/..c/", "a..__0x2f__b/..c/"},
		"a..":                  {"a..__0x2f__", "a..__0x2f__"},
		"__0x2f__0x41__":       {"__0x5f___0x2f__0x5f___0x41__/", "__0x5f___0x2f__0x5f___0x41__/"},
		"__0x-5__":             {"__0x5f___0x-5__/", "__0x5f___0x-5__/"},
		"__0xfffffffff__":      {"__0xfffffffff__/", "__0xfffffffff__/"},
		"__0x__":               {"__0x__/", "__0x__/"},
	} {
		for destination, want := range map[string]string{"s3://shards/" + prefix + "?region=r": want.s3, "azblob://shards/" + prefix + "?storage_account=abc": want.azure} {
			b, err := openBucket(relabel.Export{ID: id, Destination: destination}, Destinations{}, "host-7")
			if err != nil {
				t.Errorf("%s: %v", destination, err)
			} else if b.prefix != want+id.String()+"/" {
				t.Errorf("%s: its objects begin with %q", destination, b.prefix)
			}
		}
	}
}

func TestANewExportHasAPrefixThatServersKeep(t *testing.T) {
	for destination, keeps := range map[string]bool{
		"s3://bucket/a%01b":         false,
		"s3://bucket/a../b":         false,
		"s3://bucket/__0x2f__":      false,
		"s3://bucket/a%22b%23c%3Fd": true,
		"azblob://cc/a%5Cb":         false,
		"azblob://cc/a%23b":         false,
		"azblob://cc/a..":           false,
		"azblob://cc/a b..c/__x":    true,
	} {
		s := bucketStore("one", destination)
		e, err := bucketExporter(t, s).Prepare(t.Context(), s.run.Recipe, s.export)
		switch {
		case keeps && (err != nil || !strings.HasSuffix(e.Directory, e.ID.String())):
			t.Errorf("%s: in %q: %v", destination, e.Directory, err)
		case !keeps && (relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "characters that not every server keeps")):
			t.Errorf("%s: %v", destination, err)
		}
	}
}

func TestAnExportWithAnUnsafePrefixIsReadAndRemoved(t *testing.T) {
	server := buckettest.StartAzure(t, "shards")
	s := bucketStore("one", server.URL(`shards/a%22b%23c%25d%3Fe%5Cf`))
	x := bucketExporter(t, s)
	e := export(t, s, x)
	at, err := x.Destinations.parse(server.URL("shards/a__0x22__b__0x23__c__0x25__d__0x3f__e__0x5c__f"))
	must(t, err)
	there, err := x.Destinations.open(at)
	must(t, err)
	names, _, err := there.List(t.Context(), at.prefix+"/"+e.ID.String()+"/", "")
	if err != nil || len(names) == 0 {
		t.Fatalf("its files are elsewhere: %v", err)
	}
	same(t, "as it is read", read(t, x, e), inFolder(t, ""))
	must(t, x.Remove(context.Background(), e))
	if names, _, err := there.List(t.Context(), "", ""); err != nil || len(names) > 0 {
		t.Errorf("after the removal there are %q: %v", names, err)
	}
}
