package shard

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

// TestArrowRowsLoadFromDisk: load_from_disk gives the rows of the linear view.
func TestArrowRowsLoadFromDisk(t *testing.T) {
	folder, _ := testStudent(t)
	dir := exportFor(t, relabel.ExportForm{For: "llama-factory", Views: []relabel.View{relabel.ViewLinear, relabel.ViewArrow}}, folder, 3)
	out := runPython(t, dir, `
import sys
from datasets import load_dataset, load_from_disk
arrow, linear = load_from_disk("arrow"), load_dataset(sys.argv[1], "linear", split="train")
assert arrow.column_names == ["input_ids", "attention_mask", "labels"], arrow.column_names
assert arrow.features["labels"].feature.dtype == "int32" and arrow.features["attention_mask"].feature.dtype == "int8", arrow.features
rows = lambda data: [(row["input_ids"], row["attention_mask"], row["labels"]) for row in data]
assert len(arrow) > 10 and rows(arrow) == rows(linear)
print("fine")
`, dir)
	if strings.TrimSpace(string(out)) != "fine" {
		t.Errorf("got %s", out)
	}
}

// TestMessagesOfPromptCompletionLoadWithoutFurtherFields: what datasets decodes is what the messages view has.
func TestMessagesOfPromptCompletionLoadWithoutFurtherFields(t *testing.T) {
	folder, _ := testStudent(t)
	dir := exportFor(t, relabel.ExportForm{For: "trl", Views: []relabel.View{relabel.ViewPromptCompletion, relabel.ViewMessages}}, folder, 3)
	out := runPython(t, dir, `
import json, sys
from datasets import load_dataset
rows, archive = (load_dataset(sys.argv[1], view, split="train") for view in ("prompt_completion", "messages"))
wanted = {row["row_id"]: row for row in archive}
assert len(rows) == len(archive) > 3
for row in rows:
    want = wanted[row["row_id"]]
    assert row["prompt"] == json.loads(want["messages_json"]), (row["prompt"], want["messages_json"])
    assert row["completion"] == [json.loads(want["label_json"])["message"]]
    assert json.loads(row["tools"]) == json.loads(want["tools_json"]) and row["chat_template_kwargs"] == {}
print("fine")
`, dir)
	if strings.TrimSpace(string(out)) != "fine" {
		t.Errorf("got %s", out)
	}
}

// TestLinesOfOpenAIHoldEveryLabelOnce: an executed conversation with the labels in it, and a line for each other label.
func TestLinesOfOpenAIHoldEveryLabelOnce(t *testing.T) {
	dir := exportFor(t, relabel.ExportForm{For: "openai"}, "", 3)
	m := readManifest(t, dir)
	labels, trunks := 0, 0
	for _, f := range m.Files {
		raw, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
			var line map[string]any
			if text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			if len(line) != 2 || line["messages"] == nil || line["tools"] == nil {
				t.Errorf("a line has other fields than messages and tools: %.200s", text)
			}
			trained := 0
			for _, message := range line["messages"].([]any) {
				of := message.(map[string]any)
				weight, flagged := of["weight"]
				if flagged != (of["role"] == "assistant") || of["reasoning_content"] != nil {
					t.Errorf("a message is %v", of)
				}
				if weight == 1.0 {
					trained++
				}
			}
			if labels += trained; trained > 1 {
				trunks++
			}
		}
	}
	if labels != m.States || trunks == 0 {
		t.Errorf("%d labels in lines, %d lines with more than one; the export has %d states", labels, trunks, m.States)
	}
}

func TestLinesOfOpenAIAreLimitedToANumberOfLabels(t *testing.T) {
	for _, most := range []int{1, 11} {
		dir := exportFor(t, relabel.ExportForm{For: "openai", MaxLabels: most}, "", 1)
		if m := readManifest(t, dir); m.States != most {
			t.Errorf("%d labels, expected %d", m.States, most)
		}
		for _, p := range check(t, dir, nil).Problems {
			t.Error(p)
		}
	}
}
