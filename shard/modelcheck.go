package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"relabel"
	"relabel/shard/tree"
)

// modelConfigName is the file beside a tokenizer that says which layers its model has.
const modelConfigName = "config.json"

// maxModelConfig bounds the bytes of a config.json; those of published models have a few
// thousand.
const maxModelConfig = 4 << 20

// checkModel refuses the tree view for a student with recurrent layers, CodeInvalid on
// views. It reads the config.json in the tokenizer's folder; without one the architecture is
// not known and the answer is ModelNotChecked. It is "" without the tree view.
func checkModel(f relabel.ExportForm) (relabel.ModelCheck, error) {
	if !slices.Contains(f.Views, relabel.ViewTree) {
		return "", nil
	}
	name := filepath.Join(modelFolder(f.Tokenizer), modelConfigName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return relabel.ModelNotChecked, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxModelConfig) {
		return "", relabel.Errorf(relabel.CodeInvalid, "its config.json is not a regular file of at most %d bytes", maxModelConfig).On("tokenizer")
	}
	var config []byte
	if err == nil {
		config, err = os.ReadFile(name)
	}
	if err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "its config.json cannot be read").On("tokenizer").Because(err)
	}
	if err := tree.CheckModel(config); err != nil {
		return "", err
	}
	return relabel.ModelChecked, nil
}

// modelFolder is the folder of a tokenizer that is named by its folder or its
// tokenizer.json.
func modelFolder(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return filepath.Dir(path)
	}
	return path
}
