package trainers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"

	"relabel"
)

// Exported is what a configuration is checked against.
type Exported struct {
	View     relabel.View    // that a trainer reads; "" if the export was made for none
	Dialect  relabel.Dialect // of its rows
	Longest  int             // tokens of the longest row; 0: not known
	Weighted bool            // a token may have a weight other than 1
}

// Warning is a setting with which a trainer would train on more than the labels, or on less than whole rows.
type Warning struct {
	Setting string // its name with its value, or that it is missing
	Would   string // what the trainer would do
	Instead string // what to write
}

// String is the warning as one line.
func (w Warning) String() string {
	return fmt.Sprintf("%s: %s; write %s", w.Setting, w.Would, w.Instead)
}

// settings are the settings of a configuration by name, as YAML values or texts of a command line.
type settings map[string]any

// CheckConfiguration checks a configuration of axolotl, ms-swift, LLaMA-Factory or TRL: a YAML or JSON file, or a
// script or text with a command line. CodeInvalid if it is none of these.
func CheckConfiguration(name string, text []byte, e Exported) (trainer string, warnings []Warning, err error) {
	trainer, s, err := readConfiguration(name, string(text))
	if err != nil {
		return "", nil, err
	}
	switch trainer {
	case axolotl.Name:
		warnings = s.axolotl(e)
	case msSwift.Name:
		warnings = s.msSwift(e)
	case llamaFactory.Name:
		warnings = s.llamaFactory(e)
	case trl.Name:
		warnings = s.trl(e)
	}
	return trainer, warnings, nil
}

// commands are the programs of trainers, and subcommands what they train by.
var (
	commands    = map[string]string{"swift": msSwift.Name, "trl": trl.Name, "llamafactory-cli": llamaFactory.Name, "axolotl": axolotl.Name}
	subcommands = []string{"sft", "pt", "train", "preprocess"}
)

// readConfiguration reads the settings and finds out whose they are.
func readConfiguration(name, text string) (trainer string, s settings, err error) {
	refuse := func(format string, args ...any) (string, settings, error) {
		return "", nil, relabel.Errorf(relabel.CodeInvalid, "%s "+format, append([]any{filepath.Base(name)}, args...)...).On("--for")
	}
	const unknown = "is not a configuration of axolotl, ms-swift, LLaMA-Factory or TRL: give its YAML or JSON file, or a script with its command line"
	err = yaml.Unmarshal(withoutTabs([]byte(text)), &s)
	var other *yaml.TypeError // it has no settings, but a list or text
	switch isYAML := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)); {
	case err == nil && len(s) > 0 && s.trainer() == "":
		return refuse(unknown)
	case err == nil && len(s) > 0:
		return s.trainer(), s, nil
	case errors.As(err, &other) && isYAML:
		return refuse(unknown)
	case err != nil && isYAML:
		return refuse("is not valid YAML: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	words := shellWords(text)
	for i := range words {
		whose, is := commands[filepath.Base(words[i])]
		if !is || i+1 == len(words) || !slices.Contains(subcommands, words[i+1]) {
			continue
		}
		s = arguments(words[i+2:])
		if file := settingsFile(words[i+2:], s); file != "" {
			return refuse("has the settings in another file: give %.200q", file)
		}
		return whose, s, nil
	}
	if s = arguments(words); s.trainer() == "" {
		return refuse(unknown)
	}
	return s.trainer(), s, nil
}

// withoutTabs returns JSON without white space, in which YAML has no tabs, and other text as it is.
func withoutTabs(text []byte) []byte {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return text
	}
	return compact.Bytes()
}

// settingsFile is the file with the settings that a command line names, "" if it has them itself.
func settingsFile(words []string, s settings) string {
	file := s.text("config")
	if file == "" && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		file = words[0]
	}
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
		return ""
	}
	return file
}

// trainer is the trainer that has such settings, "" if none is known.
func (s settings) trainer() string {
	has := func(names ...string) bool {
		for _, name := range names {
			if _, there := s[name]; there {
				return true
			}
		}
		return false
	}
	switch {
	case has("base_model", "datasets"):
		return axolotl.Name
	case has("stage", "finetuning_type", "tokenized_path"):
		return llamaFactory.Name
	case has("dataset_name", "completion_only_loss", "assistant_only_loss", "dataset_config"):
		return trl.Name
	case has("loss_scale", "tuner_type", "train_type", "truncation_strategy", "cached_dataset", "split_dataset_ratio", "use_chat_template"):
		return msSwift.Name
	}
	return ""
}

// text is a setting as text, "" if it is missing or null.
func (s settings) text(name string) string {
	if v, there := s[name]; there && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// is reports whether a setting is true.
func (s settings) is(name string) bool { return strings.EqualFold(s.text(name), "true") }

// number is a setting as a number; false if it is missing or not a number.
func (s settings) number(name string) (n int, there bool) {
	_, err := fmt.Sscan(s.text(name), &n)
	return n, err == nil
}

// tooShort warns of a limit below the longest row; otherwise is the limit without the setting, 0 for none.
func (s settings) tooShort(name string, otherwise int, would string, e Exported) []Warning {
	limit, there := s.number(name)
	setting := fmt.Sprintf("%s: %d", name, limit)
	if !there {
		limit, setting = otherwise, name+" is missing"
	}
	if limit == 0 || e.Longest == 0 || limit >= e.Longest {
		return nil
	}
	return []Warning{{setting, fmt.Sprintf("the longest row has %d tokens, and longer ones than %d would be %s", e.Longest, limit, would), fmt.Sprintf("%s: %d", name, e.Longest)}}
}
