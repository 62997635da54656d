package jinja

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"relabel"
)

// Model renders the conversations of one model. It has one or more templates, selected by the presence
// of tools, and special tokens, which are variables of the template.
type Model struct {
	templates map[string]*Template // a single one is named default
	special   *Map
	config    bool

	noThinking bool // reasoning keeps only its original name
}

// namedTokens are the entries of a tokenizer_config.json that templates see.
var namedTokens = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

// FromTemplate makes a model of a template, without special tokens. name is its name in errors,
// which are CodeInvalid.
func FromTemplate(name, text string) (*Model, error) {
	m := newModel()
	return m, m.add("default", name, text)
}

// FromFiles makes a model from the files of a model's folder: the special tokens of
// tokenizer_config.json, and its templates or, if text is not "", that template instead. Errors are
// CodeInvalid.
func FromFiles(files relabel.TokenizerFiles, text string) (*Model, error) {
	m := newModel()
	raw, there := files[relabel.TokenizerConfig]
	if !there {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is missing: it names the special tokens").On(relabel.TokenizerConfig)
	}
	config, err := m.readConfig(raw)
	if err != nil {
		return nil, err
	}
	if text != "" {
		return m, m.add("default", relabel.ChatTemplateFile, text)
	}
	return m, m.readTemplates(config, files)
}

// CheckFiles refuses, with CodeInvalid, files of a model's folder whose special tokens or
// chat templates cannot be read. A folder may have neither.
func CheckFiles(files relabel.TokenizerFiles) error {
	m, config := newModel(), NewMap()
	if raw, there := files[relabel.TokenizerConfig]; there {
		var err error
		if config, err = m.readConfig(raw); err != nil {
			return err
		}
	}
	found, err := m.readFiles(files)
	if given, _ := config.Get("chat_template"); found || err != nil || given == nil {
		return err
	}
	return m.readTemplates(config, files)
}

func newModel() *Model { return &Model{templates: map[string]*Template{}, special: NewMap()} }

// readConfig reads the special tokens of a tokenizer_config.json.
func (m *Model) readConfig(raw []byte) (*Map, error) {
	v, err := DecodeJSON(raw)
	config, ok := v.(*Map)
	if err != nil || !ok {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is not a JSON object").On(relabel.TokenizerConfig).Because(err)
	}
	m.config = true
	m.readTokens(config)
	return config, nil
}

// Special returns the text of a special token by its name, such as eos_token; "" if
// the model has none.
func (m *Model) Special(name string) string {
	v, _ := m.special.Get(name)
	text, _ := v.(string)
	return text
}

func (m *Model) add(name, file, source string) error {
	if len(m.templates) == maxTemplates {
		return relabel.Errorf(relabel.CodeInvalid, "there are more than %d chat templates", maxTemplates).On(file)
	}
	t, err := Parse(file, source)
	m.templates[name] = t
	return err
}

// maxTemplates bounds the chat templates of one model.
const maxTemplates = 64

// readTemplates selects templates like transformers: separate files take precedence over
// tokenizer_config.json.
func (m *Model) readTemplates(config *Map, files relabel.TokenizerFiles) error {
	if found, err := m.readFiles(files); found || err != nil {
		return err
	}
	given, _ := config.Get("chat_template")
	switch given := given.(type) {
	case string:
		return m.add("default", relabel.TokenizerConfig, given)
	case *List:
		return m.addList(given)
	}
	return relabel.Errorf(relabel.CodeInvalid, "has no chat_template, and there is no %s beside it", relabel.ChatTemplateFile).On(relabel.TokenizerConfig)
}

// readFiles reads the templates in separate files, and reports whether there are any.
func (m *Model) readFiles(files relabel.TokenizerFiles) (found bool, err error) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		base, isTemplate := strings.CutSuffix(path.Base(file), ".jinja")
		if !isTemplate {
			continue
		}
		if file == relabel.ChatTemplateFile {
			base = "default"
		}
		if err := m.add(base, path.Base(file), string(files[file])); err != nil {
			return true, err
		}
		found = true
	}
	return found, nil
}

// addList adds the templates of a list in tokenizer_config.json.
func (m *Model) addList(given *List) error {
	for _, v := range given.items {
		entry, _ := v.(*Map)
		if entry == nil {
			continue
		}
		name, _ := entry.Get("name")
		source, _ := entry.Get("template")
		n, okName := name.(string)
		s, okSource := source.(string)
		if !okName || !okSource {
			return relabel.Errorf(relabel.CodeInvalid, "chat_template contains an entry without name and template").On(relabel.TokenizerConfig)
		}
		if err := m.add(n, relabel.TokenizerConfig, s); err != nil {
			return err
		}
	}
	return nil
}

// readTokens reads the special tokens.
func (m *Model) readTokens(config *Map) {
	for i, k := range config.keys {
		if name := k.(string); slices.Contains(namedTokens, name) {
			m.setToken(name, config.vals[i])
		}
	}
	extra, _ := config.Get("extra_special_tokens")
	if of, ok := extra.(*Map); ok {
		for i, k := range of.keys {
			m.setToken(k.(string), of.vals[i])
		}
	}
}

// setToken sets the text of a token that is given as text or as an object with flags.
func (m *Model) setToken(name string, v Value) {
	if flags, ok := v.(*Map); ok {
		v, _ = flags.Get("content")
	}
	if s, ok := v.(string); ok {
		m.special.Set(name, s)
	}
}

// Template returns the template for conversations with or without tools.
func (m *Model) Template(tools bool) (*Template, error) {
	if t, ok := m.templates["tool_use"]; ok && tools {
		return t, nil
	}
	if t, ok := m.templates["default"]; ok {
		return t, nil
	}
	var names []string
	for name := range m.templates {
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, relabel.Errorf(relabel.CodeInvalid, "there are several chat templates, but no default: %s", strings.Join(names, ", "))
}

// RenderChat renders a conversation: like Template.RenderChat if the model has only a template,
// otherwise like apply_chat_template of its tokenizer in transformers, with the special tokens as
// variables and without entries of messages that are null.
func (m *Model) RenderChat(variables *Map, now time.Time) (string, error) {
	tools, _ := variables.Get("tools")
	t, err := m.Template(tools != nil)
	if err != nil {
		return "", err
	}
	if !m.config {
		return t.renderChat(variables, now, !m.noThinking)
	}
	v := m.special.copy()
	for i, k := range variables.keys {
		v.Set(k.(string), variables.vals[i])
	}
	messages, _ := v.Get("messages")
	l, ok := messages.(*List)
	if !ok || len(l.items) == 0 {
		return "", relabel.Errorf(relabel.CodeInvalid, "the conversation has no messages").On("messages")
	}
	v.Set("messages", withoutNulls(l))
	return t.renderChat(v, now, !m.noThinking)
}

// NoThinking makes a message's reasoning available only by its original name, not also as thinking.
func (m *Model) NoThinking() { m.noThinking = true }

func withoutNulls(messages *List) *List {
	out := &List{slices.Clone(messages.items)}
	for i, v := range out.items {
		m, ok := v.(*Map)
		if !ok || !slices.Contains(m.vals, nil) {
			continue
		}
		c := NewMap()
		for j, k := range m.keys {
			if m.vals[j] != nil {
				c.Set(k.(string), m.vals[j])
			}
		}
		out.items[i] = c
	}
	return out
}
