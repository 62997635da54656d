package shard

import (
	"context"
	"slices"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/tree"
)

// openStudent opens the tokenizer and the template of a form with a view of tokens, and
// checks its model. CodeInvalid names the field.
func (x *Exporter) openStudent(ctx context.Context, f relabel.ExportForm) (*render.Student, relabel.ModelCheck, error) {
	tokenizer, student, err := x.Tokenizers.Student(ctx, f)
	if err != nil {
		return nil, "", err
	}
	checked, err := checkModel(f, tokenizer.Files)
	return student, checked, err
}

// checkModel refuses the tree view for a student with recurrent layers, CodeInvalid on
// views. files are those of the tokenizer's folder: without a config.json the architecture
// is not known and the answer is ModelNotChecked. It is "" without the tree view.
func checkModel(f relabel.ExportForm, files relabel.TokenizerFiles) (relabel.ModelCheck, error) {
	if !slices.Contains(f.Views, relabel.ViewTree) {
		return "", nil
	}
	config, there := files[relabel.ModelConfig]
	if !there {
		return relabel.ModelNotChecked, nil
	}
	if err := tree.CheckModel(config); err != nil {
		return "", err
	}
	return relabel.ModelChecked, nil
}
