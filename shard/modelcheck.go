package shard

import (
	"context"
	"slices"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/tree"
)

// openStudent opens the tokenizer and the template of a form with a token view, and checks
// the model. CodeInvalid names the field.
func (x *Exporter) openStudent(ctx context.Context, f relabel.ExportForm) (*render.Student, relabel.ModelCheck, error) {
	tokenizer, student, err := x.Tokenizers.Student(ctx, f)
	if err != nil {
		return nil, "", err
	}
	if f.Dialect == relabel.DialectFlat {
		student.Flattens = true
	}
	checked, err := checkModel(f, tokenizer.Files)
	return student, checked, err
}

// checkModel returns CodeInvalid on views if the tree view is selected for a student with
// recurrent layers. files is the tokenizer's folder: without a config.json the architecture
// is unknown and the result is ModelNotChecked. The result is "" without the tree view.
func checkModel(f relabel.ExportForm, files relabel.TokenizerFiles) (relabel.ModelCheck, error) {
	config, there := files[relabel.ModelConfig]
	if there && f.For != "" && slices.Contains(f.Views, relabel.ViewPacked) && tree.CheckModel(config) != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "the student has recurrent layers, whose state would carry over between the sequences of a bin in %s: choose a trainer that reads single sequences", f.For).On("for")
	}
	if !slices.Contains(f.Views, relabel.ViewTree) {
		return "", nil
	}
	if !there {
		return relabel.ModelNotChecked, nil
	}
	if err := tree.CheckModel(config); err != nil {
		return "", err
	}
	return relabel.ModelChecked, nil
}
