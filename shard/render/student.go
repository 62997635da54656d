// Package render turns canonical states and labels into the token ids of a student: its
// own chat template, its own tool-call form, its own tokenizer, whatever the teacher's
// were. It gives what transformers' apply_chat_template and tokenizers would give.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"time"

	"relabel"
	"relabel/shard/template"
	"relabel/shard/token"
)

// Student is a student's tokenizer and chat template. It is safe for concurrent use.
type Student struct {
	Tokens *token.Tokenizer
	// TemplateSHA256 is the hash of the template's text (hex).
	TemplateSHA256 string
	// Arguments is how the template is given the arguments of a call.
	Arguments relabel.ArgumentsForm
	// Stop is the text of the token that ends a turn, StopID its id.
	Stop   string
	StopID int32
	// PadID is the id to pad rows with: that of pad_token, else of the stop token.
	PadID int32

	template  *template.Template
	variables *template.Map
	reasoning relabel.ReasoningForm
	now       time.Time // what strftime_now sees; zero: a template that asks is refused
	specials  *specials
	header    header
}

// Open reads the tokenizer and the template that form names, finds out how the template
// wants arguments and how it ends a turn, and refuses, with CodeInvalid naming the field,
// what cannot be rendered right.
func Open(form relabel.ExportForm) (*Student, error) {
	tokens, err := token.Open(form.Tokenizer)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s", said(err)).On("tokenizer").Because(err)
	}
	c, err := readConfig(form.Tokenizer)
	if err != nil {
		return nil, err
	}
	name, text, err := findTemplate(c, form.Template)
	if err != nil {
		return nil, err
	}
	parsed, err := template.Parse(name, text)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	s := &Student{Tokens: tokens, TemplateSHA256: hex.EncodeToString(sum[:]), Arguments: form.Arguments, template: parsed,
		variables: c.variables(), reasoning: form.Reasoning, specials: newSpecials(tokens)}
	if err := s.addOptions(form); err != nil {
		return nil, err
	}
	if err := s.probe(c.special["eos_token"]); err != nil {
		return nil, err
	}
	if s.PadID = s.StopID; c.special["pad_token"] != "" {
		if id, ok := tokens.ID(c.special["pad_token"]); ok {
			s.PadID = id
		}
	}
	return s, nil
}

// findTemplate returns the template's name, for errors, and its text.
func findTemplate(c config, file string) (name, text string, err error) {
	if file == "" {
		text, err = c.template()
		return "chat_template", text, err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", "", unreadable(file, "template", err)
	}
	return file, string(raw), nil
}

// addOptions takes the further variables and the day.
func (s *Student) addOptions(form relabel.ExportForm) error {
	if form.Date != "" {
		now, err := time.Parse(time.DateOnly, form.Date)
		if err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "must be a day such as 2026-01-31").On("date").Because(err)
		}
		s.now = now
	}
	if len(form.TemplateOptions) == 0 {
		return nil
	}
	v, err := template.DecodeJSON(form.TemplateOptions)
	options, ok := v.(*template.Map)
	if err != nil || !ok {
		return relabel.Errorf(relabel.CodeInvalid, "must be a JSON object").On("template_options").Because(err)
	}
	for i := range options.Len() {
		key := options.Key(i).(string) // keys of JSON are texts
		if key == "messages" || key == "tools" || key == "add_generation_prompt" {
			return relabel.Errorf(relabel.CodeInvalid, "%s is given by the export itself", key).On("template_options." + key)
		}
		s.variables.Set(key, options.ValueAt(i))
	}
	return nil
}

// render renders messages, whose special tokens are broken up by guard.
func (s *Student) render(messages *template.List, tools template.Value, header bool, guard rune) (rendered, error) {
	v := template.NewMap()
	v.Set("messages", messages)
	v.Set("tools", tools)
	v.Set("add_generation_prompt", header)
	for i := range s.variables.Len() {
		v.Set(s.variables.Key(i).(string), s.variables.ValueAt(i))
	}
	text, err := s.template.RenderChat(v, s.now)
	if err != nil {
		return rendered{}, refuse(TemplateRefused, "%s", said(err))
	}
	return s.specials.mend(text, guard), nil
}

// WithoutHeader is how many of a prompt's ids come before the header of the turn to come;
// 0 where it does not end with that.
func (s *Student) WithoutHeader(prompt []int32) int {
	if len(s.header.ids) == 0 || !hasSuffix(prompt, s.header.ids) {
		return 0
	}
	return len(prompt) - len(s.header.ids)
}
