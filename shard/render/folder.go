package render

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relabel"
	"relabel/shard/template"
)

// The files of a model's folder that are read beside tokenizer.json.
const (
	configName   = "tokenizer_config.json"
	templateName = "chat_template.jinja" // where newer folders keep the template
)

// specialNames are the keys of tokenizer_config.json that templates get as variables, as
// transformers hands them over.
var specialNames = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

// config is what of a tokenizer_config.json concerns rendering.
type config struct {
	special   map[string]string // by specialNames; absent where the file has none
	templates map[string]string // by name; "default" is the one without a name
}

// readConfig reads the folder's tokenizer_config.json, and its template's own file where
// there is one.
func readConfig(folder string) (config, error) {
	c := config{special: map[string]string{}, templates: map[string]string{}}
	raw, err := os.ReadFile(filepath.Join(folder, configName))
	if err != nil {
		return c, unreadable(configName, "tokenizer", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return c, relabel.Errorf(relabel.CodeInvalid, "%s is no JSON object", configName).On("tokenizer").Because(err)
	}
	for _, name := range specialNames {
		text, err := tokenText(fields[name])
		if err != nil {
			return c, relabel.Errorf(relabel.CodeInvalid, "%s: %s is neither a text nor an added token", configName, name).On("tokenizer").Because(err)
		}
		if text != "" {
			c.special[name] = text
		}
	}
	if err := c.addTemplates(fields["chat_template"]); err != nil {
		return c, err
	}
	own, err := os.ReadFile(filepath.Join(folder, templateName))
	if err == nil {
		c.templates["default"] = string(own)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return c, unreadable(templateName, "template", err)
	}
	return c, nil
}

// addTemplates reads chat_template: a text, or a list of {name, template}.
func (c config) addTemplates(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		c.templates["default"] = one
		return nil
	}
	var named []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &named); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "%s: chat_template is neither a text nor a list of named ones", configName).On("tokenizer").Because(err)
	}
	for _, t := range named {
		c.templates[t.Name] = t.Template
	}
	return nil
}

// template returns the text that transformers would choose: that for tools, where there
// is such a one, else the default.
func (c config) template() (string, error) {
	if text, ok := c.templates["tool_use"]; ok {
		return text, nil
	}
	if text, ok := c.templates["default"]; ok {
		return text, nil
	}
	return "", relabel.Errorf(relabel.CodeInvalid, "the tokenizer's folder has no chat template, neither in %s nor as %s: name a file with one", configName, templateName).On("template")
}

// variables are the special tokens by name.
func (c config) variables() *template.Map {
	m := template.NewMap()
	for _, name := range specialNames {
		if text, ok := c.special[name]; ok {
			m.Set(name, text)
		}
	}
	return m
}

// tokenText reads a special token: a text, or an object with its content.
func tokenText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var added struct{ Content string }
	err := json.Unmarshal(raw, &added)
	return added.Content, err
}

func unreadable(name, field string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return relabel.Errorf(relabel.CodeInvalid, "there is no %s", name).On(field).Because(err)
	}
	return relabel.Errorf(relabel.CodeInvalid, "%s cannot be read", name).On(field).Because(err)
}
