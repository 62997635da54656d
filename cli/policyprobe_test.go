package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

func TestTheCommandThatDoctorPrintsHasAllSettings(t *testing.T) {
	p := relabel.Policy{Name: "student", BaseURL: "https://host/v1", Replicas: []string{"https://b/v1", "https://c/v1"}, Model: "it's a model",
		Server: relabel.ServerVLLM, ToolFormat: relabel.ToolsText, Secret: "KEY", Sampling: relabel.Sampling{Temperature: 1, TopP: 0.95, MaxTokens: 4096, TopK: new(20), MinP: new(0.1), RepetitionPenalty: new(1.1), PresencePenalty: new(0.5), FrequencyPenalty: new(0.25),
			Stop: []string{"###", "a,b"}, ChatTemplateKwargs: map[string]json.RawMessage{"enable_thinking": json.RawMessage("false")}, Logprobs: new(false)},
		Limits: relabel.PolicyLimits{Concurrency: 3, RequestsPerMinute: 4, TokensPerMinute: 5, TimeoutSeconds: 60, Retries: 1, PatienceSeconds: 6, HedgeAfterSeconds: 7, ContextTokens: 32768},
		Price:  &relabel.Price{Input: 0.5, Cached: 0.1, Output: 2, Currency: "EUR", Batch: 0.5}, CacheMarkers: relabel.CacheMarkersAnthropic,
		Tokenizer: "/models/student", ChatTemplate: "/models/own.jinja", TrainedFrom: &uuid.UUID{1}, TrainedOn: []relabel.TrainedOn{{ExportID: uuid.UUID{2}, Epochs: 2.5}}}
	const want = `relabel policy add student --base-url https://host/v1 --model 'it'\''s a model' --replica https://b/v1 --replica https://c/v1 --server-kind vllm ` +
		`--tool-format text --secret KEY --temperature 1 --top-p 0.95 --max-tokens 4096 --top-k 20 --min-p 0.1 --repetition-penalty 1.1 --presence-penalty 0.5 --frequency-penalty 0.25 ` +
		`--stop '###' --stop a,b --chat-template-kwargs '{"enable_thinking":false}' --concurrency 3 --requests-per-minute 4 --tokens-per-minute 5 --timeout 60 ` +
		`--retries 1 --patience 6 --hedge-after 7 --context-tokens 32768 --price-input 0.5 --price-cached 0.1 --price-output 2 --price-batch 0.5 --price-currency EUR --cache-markers anthropic ` +
		`--tokenizer /models/student --chat-template /models/own.jinja --no-logprobs --trained-on 02000000-0000-0000-0000-000000000000=2.5 --trained-from 01000000-0000-0000-0000-000000000000`
	if got := addCommand(p); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	for _, flag := range flagsOf(t, "policy", "add") {
		if apart := flag == "untrained" || flag == "epochs"; !apart && !strings.Contains(want+" ", " --"+flag+" ") && !strings.Contains(want+" ", " --no-"+flag+" ") {
			t.Errorf("doctor's command has no --%s", flag)
		}
	}
	if got := addCommand(relabel.Policy{Name: "base", Untrained: true}); !strings.HasSuffix(got, " --untrained") { // which excludes --trained-on
		t.Errorf("of an untrained one: %s", got)
	}
	var c testCommands
	words := strings.Split(strings.ReplaceAll(strings.ReplaceAll(want, `'it'\''s a model'`, "its_a_model"), "'", ""), " ")[1:]
	if _, err := parserOf(t, &c).Parse(words); err != nil || c.Policy.Add.ToolFormat != "text" || *c.Policy.Add.Limits.Retries != 1 || len(c.Policy.Add.Sampling.Stop) != 2 || *c.Policy.Add.Sampling.Logprobs || string(c.Policy.Add.Sampling.ChatTemplateKwargs["enable_thinking"]) != "false" {
		t.Errorf("%v, %+v", err, c.Policy.Add)
	}
}

func TestAPriceNeedsInputAndOutput(t *testing.T) {
	for flags, want := range map[string]*api.NewPrice{
		"":                                     nil,
		"--price-input 0 --price-output 0":     {},
		"--price-input 1 --price-output 2":     {Input: 1, Output: 2},
		"--price-cached 1":                     {},
		"--price-batch 0.5":                    {},
		"--price-currency EUR":                 {},
		"--price-input 1 --price-currency EUR": {},
	} {
		var c testCommands
		words := strings.Fields("policy add student --base-url http://host/v1 --model m " + flags)
		k, err := parserOf(t, &c).Parse(words)
		if err == nil {
			err = c.Policy.Add.checkPrice(k)
		}
		complete := flags == "" || strings.Contains(flags, "input") && strings.Contains(flags, "output")
		if complete != (err == nil) || complete && !reflect.DeepEqual(c.Policy.Add.Price, want) {
			t.Errorf("%s: price %+v, %v", flags, c.Policy.Add.Price, err)
		}
	}
}

// testCommands are the commands whose flags come from requests.
type testCommands struct {
	Policy PolicyCommand `cmd:""`
	Judge  runJudge      `cmd:""`
	Export struct {
		Start exportStart `cmd:""`
	} `cmd:""`
}

func parserOf(t *testing.T, c *testCommands) *kong.Kong {
	t.Helper()
	parser, err := kong.New(c, kong.Vars{"data": ""}, RequestFlags(), kong.Bind(ServeLocal(nil)))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// flagsOf lists the flags of a command, without those that every client has.
func flagsOf(t *testing.T, words ...string) (flags []string) {
	t.Helper()
	node := parserOf(t, &testCommands{}).Model.Node
	for _, word := range words {
		node = node.Children[slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })]
	}
	for _, flag := range node.Flags {
		if !slices.Contains([]string{"database", "data", "server", "token"}, flag.Name) {
			flags = append(flags, flag.Name)
		}
	}
	return flags
}
