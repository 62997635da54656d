package shard

import (
	"testing"
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
