package trainers

import (
	"fmt"
	"strings"

	"relabel"
)

// history is what a trainer does that trains on all turns of the assistant.
const history = "it would train on every turn of the assistant, also on the student's own actions in the history"

// axolotl checks the settings of axolotl.
func (s settings) axolotl(e Exported) (all []Warning) {
	list, _ := s["datasets"].([]any)
	for i, item := range list {
		entry := settings{}
		if of, is := item.(map[any]any); is {
			for name, value := range of {
				entry[fmt.Sprint(name)] = value
			}
		}
		all = append(all, s.axolotlData(fmt.Sprintf("datasets[%d].", i), entry)...)
	}
	would := map[string]string{"": "dropped", "drop": "dropped", "truncate": "cut", "raise": "refused"}[s.text("excess_length_strategy")]
	return append(all, s.tooShort("sequence_len", 512, would, e)...)
}

// axolotlData checks one data set. Without a type its rows are token ids, whose labels no setting changes.
func (s settings) axolotlData(at string, d settings) (all []Warning) {
	if d.text("type") == "" {
		return nil
	}
	if s.is("train_on_inputs") {
		all = append(all, Warning{"train_on_inputs: true", "it would train on the whole prompt", "train_on_inputs: false"})
	}
	if d.text("type") != "chat_template" {
		return all
	}
	roles, named := d["roles_to_train"].([]any)
	switch {
	case d["roles_to_train"] == nil && !named:
		all = append(all, Warning{at + "roles_to_train is missing", history, "roles_to_train: [] and message_field_training: train"})
	case len(roles) > 0:
		all = append(all, Warning{fmt.Sprintf("%sroles_to_train: %v", at, roles), history, "roles_to_train: [] and message_field_training: train"})
	case d.text("message_field_training") == "":
		all = append(all, Warning{at + "message_field_training is missing", "no flag of a message says what is trained on, and tools are not rendered", "message_field_training: train"})
	}
	return all
}

// msSwift checks the arguments of ms-swift.
func (s settings) msSwift(e Exported) (all []Warning) {
	ids := e.View == relabel.ViewChat && e.Dialect == relabel.DialectLoss
	base, _, _ := strings.Cut(s.text("loss_scale"), "+")
	switch {
	case base == "all":
		all = append(all, Warning{"loss_scale: all", "it would train on the whole prompt", "loss_scale: last_round"})
	case !ids && base == "":
		all = append(all, Warning{"loss_scale is missing", history, "loss_scale: last_round"})
	case !ids && base != "last_round":
		all = append(all, Warning{"loss_scale: " + base, history, "loss_scale: last_round"})
	}
	if ids && s.text("use_chat_template") == "" || ids && s.is("use_chat_template") {
		all = append(all, Warning{"use_chat_template is missing or true", "it would put a template's text around rows of token ids", "use_chat_template: false and template: dummy"})
	}
	if ids && e.Weighted && (s.text("is_binary_loss_scale") == "" || s.is("is_binary_loss_scale")) {
		all = append(all, Warning{"is_binary_loss_scale is missing or true", "every weight above 0 would count as 1", "is_binary_loss_scale: false"})
	}
	would := map[string]string{"": "deleted", "delete": "deleted", "left": "cut", "right": "cut", "split": "split", "raise": "refused"}[s.text("truncation_strategy")]
	return append(all, s.tooShort("max_length", 0, would, e)...)
}

// llamaFactory checks the settings of LLaMA-Factory.
func (s settings) llamaFactory(e Exported) (all []Warning) {
	if s.text("tokenized_path") != "" {
		return nil // rows of token ids, to which no other setting of data applies
	}
	all = append(all, Warning{"tokenized_path is missing", "messages with calls would lose their text and their reasoning", "tokenized_path: arrow, of an export for llama-factory"})
	if !s.is("mask_history") {
		all = append(all, Warning{"mask_history is missing or false", history, "mask_history: true"})
	}
	if s.is("train_on_prompt") {
		all = append(all, Warning{"train_on_prompt: true", "it would train on the whole prompt", "train_on_prompt: false"})
	}
	return append(all, s.tooShort("cutoff_len", 2048, "cut", e)...)
}

// trl checks the settings of TRL's SFT.
func (s settings) trl(e Exported) (all []Warning) {
	limit, written := s["max_length"]
	if !written || limit != nil && !strings.EqualFold(s.text("max_length"), "none") {
		all = append(all, s.tooShort("max_length", 1024, "cut, and dropped if no label is left", e)...)
	}
	for i := range all {
		all[i].Instead = "max_length: null"
	}
	if e.View == relabel.ViewPromptCompletion && strings.EqualFold(s.text("completion_only_loss"), "false") {
		all = append(all, Warning{"completion_only_loss: false", "it would train on the whole prompt", "completion_only_loss: true"})
	}
	if e.View == relabel.ViewPacked && !s.is("padding_free") {
		all = append(all, Warning{"padding_free is missing or false", "the sequences of a bin would attend to each other", "padding_free: true"})
	}
	return all
}
