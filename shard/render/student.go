// Package render turns canonical states and labels into the token ids of a student, with its own
// chat template, tool-call form and tokenizer, independent of the teacher's. The result equals that
// of transformers' apply_chat_template and tokenizers.
package render

import (
	"slices"
	"sync"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/jinja"
	"relabel/modelfiles"
	"relabel/tokenizer"
)

// Student is a student's tokenizer and chat template. It is safe for concurrent use.
type Student struct {
	Tokens *tokenizer.Tokenizer
	// TemplateSHA256 is the hash of the template's text (hex).
	TemplateSHA256 string
	// Arguments is the form in which the template receives the arguments of a call.
	Arguments relabel.ArgumentsForm
	// Stop is the text of the token that ends a turn; StopID is its id.
	Stop   string
	StopID int32
	// PadID is the id that pads rows: that of pad_token, otherwise of the stop token.
	PadID int32
	// EOS is the tokenizer's own end token, "" if it has none. BeginsWithBOS says whether the template begins
	// conversations with the tokenizer's bos_token.
	EOS           string
	BeginsWithBOS bool

	// Flattens says that CheckText also requires that Flatten finds messages.
	Flattens bool

	model     *jinja.Model
	options   *jinja.Map // additional template variables
	reasoning relabel.ReasoningForm
	now       time.Time // result of strftime_now; zero: templates that call it are refused
	specials  *specials
	flatOnce  sync.Once
	frame     *flatFrame
	header    []int32 // what the template adds to a state for the next turn
}

// Open is New with the folder and the template file of form as paths on this machine. Use it only
// for paths that the caller of this process chose.
func Open(form relabel.ExportForm) (*Student, error) {
	files, err := modelfiles.ReadFolder(form.Tokenizer)
	if err != nil {
		return nil, onField(err, "tokenizer")
	}
	tokens, err := tokenizer.Parse(files[relabel.TokenizerJSON])
	if err != nil {
		return nil, onField(err, "tokenizer")
	}
	if form.Template != "" {
		text, err := modelfiles.ReadFile(form.Template, relabel.MaxChatTemplate)
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the template cannot be read").On("template").Because(err)
		}
		form.TemplateText = string(text)
	}
	return New(tokens, files, form)
}

// onField names the field of a form that caused an error.
func onField(err error, field string) error {
	return relabel.Errorf(relabel.CodeInvalid, "%s", said(err)).On(field).Because(err)
}

// New returns a student of a tokenizer and the other files of its folder. It uses form's
// template (TemplateText) or the folder's own, and determines how the template takes
// arguments and how it ends a turn. CodeInvalid, naming the field, if something cannot be
// rendered correctly. It reads no files; Tokenizer and Template of form, which are paths or
// names, are ignored.
func New(tokens *tokenizer.Tokenizer, files relabel.TokenizerFiles, form relabel.ExportForm) (*Student, error) {
	model, err := jinja.FromFiles(files, form.TemplateText)
	if err != nil {
		return nil, err
	}
	if form.ThinkingAlias != nil && !*form.ThinkingAlias {
		model.NoThinking()
	}
	own, err := model.Template(true)
	if err != nil {
		return nil, err
	}
	s := &Student{Tokens: tokens, TemplateSHA256: own.SHA256(), Arguments: form.Arguments, model: model, reasoning: form.Reasoning, specials: newSpecials(tokens)}
	if err := s.addOptions(form); err != nil {
		return nil, err
	}
	s.EOS = model.Special("eos_token")
	if err := s.probe(s.EOS); err != nil {
		return nil, err
	}
	s.PadID = s.StopID
	if id, ok := tokens.ID(model.Special("pad_token")); ok {
		s.PadID = id
	}
	return s, nil
}

// addOptions sets the additional variables and the date.
func (s *Student) addOptions(form relabel.ExportForm) error {
	s.options = jinja.NewMap()
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
	v, err := jinja.DecodeJSON(form.TemplateOptions)
	options, ok := v.(*jinja.Map)
	if err != nil || !ok {
		return relabel.Errorf(relabel.CodeInvalid, "must be a JSON object").On("template_options").Because(err)
	}
	for i := range options.Len() {
		key := options.Key(i).(string) // keys of JSON are texts
		if key == "messages" || key == "tools" || key == "add_generation_prompt" {
			return relabel.Errorf(relabel.CodeInvalid, "%s is set by the export itself", key).On("template_options." + key)
		}
		s.options.Set(key, options.ValueAt(i))
	}
	return nil
}

// render renders messages whose special tokens are broken up by guard.
func (s *Student) render(messages *jinja.List, tools jinja.Value, header bool, guard rune) (rendered, error) {
	v := jinja.NewMap()
	v.Set("messages", messages)
	v.Set("tools", tools)
	v.Set("add_generation_prompt", header)
	for i := range s.options.Len() {
		v.Set(s.options.Key(i).(string), s.options.ValueAt(i))
	}
	text, err := s.model.RenderChat(v, s.now)
	if err != nil {
		return rendered{}, refuse(TemplateRefused, "%s", said(err))
	}
	return s.specials.mend(text, guard), nil
}

// Text returns the text of ids, which encode to these ids again if it was encoded as a whole.
func (s *Student) Text(ids []int32) string {
	var text []byte
	for _, id := range ids {
		text = s.Tokens.AppendBytes(text, id)
	}
	return string(text)
}

// Header returns the IDs that the template adds to a state for the next turn; empty if they
// are not the end of its prompt.
func (s *Student) Header() []int32 { return s.header }

// SpecialInTools counts the occurrences of special tokens' text in the tools. The template
// writes the tools itself, and servers encode such text as special tokens, so these IDs do
// too, unlike in messages, which come from models and repositories.
func (s *Student) SpecialInTools(tools []relabel.Tool) (n int) {
	if v, err := jinja.DecodeJSON(chat.AppendTools(nil, tools)); err == nil {
		s.specials.guard(v, firstGuard, &n)
	}
	return n
}

// HasSpecial reports whether a text has that of a special token, which a trainer that encodes text takes for the token.
func (s *Student) HasSpecial(text string) bool {
	at, _ := s.specials.next(text, 0)
	return at >= 0
}

// WithoutHeader returns the number of a prompt's IDs before the header of the next turn, 0 if
// the prompt does not end with the header.
func (s *Student) WithoutHeader(prompt []int32) int {
	at := len(prompt) - len(s.header)
	if len(s.header) == 0 || at < 0 || !slices.Equal(prompt[at:], s.header) {
		return 0
	}
	return at
}
