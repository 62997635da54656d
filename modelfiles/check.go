package modelfiles

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// maxFiles is the maximum number of files of a model's folder.
const maxFiles = 64

// otherTemplates is a folder of further templates, files with the extension .jinja.
const (
	otherTemplates    = "additional_chat_templates/"
	templateExtension = ".jinja"
)

// used are the files of a model's folder that are used, besides those in otherTemplates.
var used = []string{relabel.TokenizerJSON, relabel.TokenizerConfig, relabel.ChatTemplateFile, "chat_template.json", relabel.ModelConfig,
	"special_tokens_map.json", "generation_config.json"}

// templateName matches the names of templates, without their extension.
var templateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// isUsed reports whether a file of a model's folder is used.
func isUsed(name string) bool {
	other, ok := strings.CutPrefix(name, otherTemplates)
	if !ok {
		return slices.Contains(used, name)
	}
	base, isTemplate := strings.CutSuffix(other, templateExtension)
	return isTemplate && templateName.MatchString(base)
}

// maxBytesOf returns the maximum size of a file of a model's folder.
func maxBytesOf(name string) int {
	switch {
	case name == relabel.TokenizerJSON:
		return relabel.MaxTokenizerBytes
	case strings.HasSuffix(name, templateExtension):
		return relabel.MaxChatTemplate
	}
	return relabel.MaxTokenizerFile
}

// Check returns CodeInvalid, naming the file, if files are not used, are too large, or lack
// tokenizer.json. It does not parse them.
func Check(files relabel.TokenizerFiles) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := CheckFile(name, int64(len(files[name]))); err != nil {
			return err
		}
	}
	switch {
	case len(files[relabel.TokenizerJSON]) == 0:
		return relabel.Errorf(relabel.CodeInvalid, "is missing or empty: it contains the vocabulary").On(relabel.TokenizerJSON)
	case len(files) > maxFiles:
		return relabel.Errorf(relabel.CodeInvalid, "%d files exceed the limit of %d", len(files), maxFiles).On("body")
	case files.Bytes() > relabel.MaxTokenizerBytes:
		return relabel.Errorf(relabel.CodeInvalid, "the files have %d bytes together; at most %d are accepted", files.Bytes(), relabel.MaxTokenizerBytes).On("body")
	}
	return nil
}

// CheckFile returns CodeInvalid, naming the file, if a file is not used or too large.
func CheckFile(name string, bytes int64) error {
	if !isUsed(name) {
		return relabel.Errorf(relabel.CodeInvalid, "the file %.100q is not used: send %s, and %s*%s", name, strings.Join(used, ", "), otherTemplates, templateExtension).On("body")
	}
	if most := maxBytesOf(name); bytes > int64(most) {
		return relabel.Errorf(relabel.CodeInvalid, "has %d bytes; at most %d are accepted", bytes, most).On(name)
	}
	return nil
}
