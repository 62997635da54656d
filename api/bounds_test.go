package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
)

func TestAStoredPolicyIsWithinTheBoundsOfItsRequest(t *testing.T) {
	sound := relabel.Policy{Name: "p", BaseURL: "http://h/v1", Model: "m", Server: relabel.ServerVLLM, Sampling: relabel.PaperSampling.Greedy(), Limits: relabel.DefaultPolicyLimits}
	if err := api.CheckPolicy(sound); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		field  string
		change func(*relabel.Policy)
	}{
		{"sampling.temperature", func(p *relabel.Policy) { p.Sampling.Temperature = math.NaN() }},
		{"sampling.temperature", func(p *relabel.Policy) { p.Sampling.Temperature = -0.1 }},
		{"sampling.temperature", func(p *relabel.Policy) { p.Sampling.Temperature = math.Inf(1) }},
		{"sampling.top_p", func(p *relabel.Policy) { p.Sampling.TopP = 0 }},
		{"sampling.top_p", func(p *relabel.Policy) { p.Sampling.TopP = math.NaN() }},
		{"sampling.top_p", func(p *relabel.Policy) { p.Sampling.TopP = 1.01 }},
		{"sampling.max_tokens", func(p *relabel.Policy) { p.Sampling.MaxTokens = -1 }},
		{"limits.concurrency", func(p *relabel.Policy) { p.Limits.Concurrency = 0 }},
		{"limits.timeout_seconds", func(p *relabel.Policy) { p.Limits.TimeoutSeconds = 600_000 }},
		{"limits.retries", func(p *relabel.Policy) { p.Limits.Retries = -1 }},
		{"limits.requests_per_minute", func(p *relabel.Policy) { p.Limits.RequestsPerMinute = -1 }},
		{"limits.tokens_per_minute", func(p *relabel.Policy) { p.Limits.TokensPerMinute = 2_000_000_000 }},
		{"limits.patience_seconds", func(p *relabel.Policy) { p.Limits.PatienceSeconds = 600_000 }},
		{"limits.hedge_after_seconds", func(p *relabel.Policy) { p.Limits.HedgeAfterSeconds = -1 }},
		{"replicas", func(p *relabel.Policy) { p.Replicas = make([]string, 65) }},
		{"price.output", func(p *relabel.Policy) { p.Price = &relabel.Price{Output: math.NaN(), Currency: "USD"} }},
		{"price.input", func(p *relabel.Policy) { p.Price = &relabel.Price{Input: -1, Currency: "USD"} }},
		{"price.currency", func(p *relabel.Policy) { p.Price = &relabel.Price{Input: 1, Currency: "dollars"} }},
		{"limits.concurrency", func(p *relabel.Policy) { p.Limits.Concurrency = 4097 }},
		{"limits.context_tokens", func(p *relabel.Policy) { p.Limits.ContextTokens = 10_000_001 }},
		{"price.batch", func(p *relabel.Policy) { p.Price = &relabel.Price{Batch: 1.5, Currency: "USD"} }},
		{"name", func(p *relabel.Policy) { p.Name = "" }},
	} {
		p := sound
		c.change(&p)
		var known *relabel.Error
		if err := api.CheckPolicy(p); !errors.As(err, &known) || known.Code != relabel.CodeInvalid || known.Field != c.field {
			t.Errorf("%s: got %v", c.field, err)
		}
	}
}

// TestTheDocumentedDefaultsApply compares "Default X" in the documentation of a request's fields
// with the values that absent fields take.
func TestTheDocumentedDefaultsApply(t *testing.T) {
	form := relabel.ExportForm{Views: []relabel.View{relabel.ViewPacked}}.WithDefaults()
	for _, c := range []struct{ request, defaults any }{
		{api.NewRunLimits{}, relabel.Localise.DefaultLimits()},
		{api.NewLimits{}, relabel.DefaultPolicyLimits},
		{api.NewSampling{}, relabel.PaperSampling.Pinned(relabel.ServerVLLM)},
		{relabel.ExportForm{}, struct{ Capacity int }{form.Capacity}},
	} {
		defaults := reflect.ValueOf(c.defaults)
		for i := range defaults.NumField() {
			field := defaults.Type().Field(i).Name
			of, ok := reflect.TypeOf(c.request).FieldByName(field)
			if !ok {
				t.Errorf("%T has no field %s", c.request, field)
				continue
			}
			value := reflect.Indirect(defaults.Field(i))
			if kind := value.Kind(); (kind == reflect.Slice || kind == reflect.Map) && value.IsNil() {
				continue // absent by default
			}
			is, doc := fmt.Sprint(value), of.Tag.Get("doc")
			named := strings.Contains(doc, "Default "+is) || strings.Contains(doc, "Default: "+is+".")
			if unknown := strings.Contains(doc, is+": unknown") || strings.Contains(doc, is+" leaves"); !named && !unknown {
				t.Errorf("%T.%s has the default %s and is documented as %q", c.request, field, is, doc)
			}
		}
	}
	help := reflect.TypeFor[api.NewRun]()
	limits, _ := help.FieldByName("Limits")
	for _, f := range api.Fields(api.NewRunLimits{}) {
		is := fmt.Sprintf("%s (%d)", f.Name, reflect.ValueOf(relabel.Localise.DefaultLimits()).FieldByIndex(f.Index).Int())
		if !strings.Contains(limits.Tag.Get("help"), is) {
			t.Errorf("--limits does not name %s", is)
		}
	}
}

// TestConstantsAgreeWithTags compares bounds that the root needs with those in tags, which
// cannot refer to constants.
func TestConstantsAgreeWithTags(t *testing.T) {
	flag := api.FieldOf(api.NewReview{}, "flag").MaxLength
	if !relabel.IsFlag(strings.Repeat("a", flag)) || relabel.IsFlag(strings.Repeat("a", flag+1)) {
		t.Errorf("a flag of %d characters", flag)
	}
	for _, query := range []any{api.TrajectoryQuery{}, api.ReviewQuery{}} {
		of, _ := reflect.TypeOf(query).FieldByName("Flag")
		if is, want := of.Tag.Get("maxLength"), fmt.Sprint(flag); is != want {
			t.Errorf("%T: flags of %s characters, not %s", query, is, want)
		}
	}
	name := api.FieldOf(api.NewPolicy{}, "name").MaxLength
	p := relabel.Policy{BaseURL: "http://h/v1", Model: "m", Server: relabel.ServerGeneric}
	if p.Name = strings.Repeat("a", name); p.Validate() != nil {
		t.Errorf("a name of %d characters is refused", name)
	}
	if p.Name += "a"; p.Validate() == nil {
		t.Errorf("a name of %d characters is accepted", name+1)
	}
	for _, template := range []api.Field{api.FieldOf(api.NewPolicy{}, "template_text"), api.FieldOf(relabel.ExportForm{}, "template_text")} {
		if template.MaxLength != relabel.MaxChatTemplate {
			t.Errorf("a template of %d characters", template.MaxLength)
		}
	}
	for _, c := range []struct {
		field api.Field
		list  any
	}{
		{api.FieldOf(api.NewPolicy{}, "server"), relabel.ServerKinds},
		{api.FieldOf(api.NewPolicy{}, "tool_format"), relabel.ToolFormats},
		{api.FieldOf(api.NewExport{}, "end_reasons"), relabel.EndReasons},
	} {
		var words []string
		text, err := json.Marshal(c.list)
		if err == nil {
			err = json.Unmarshal(text, &words)
		}
		if err != nil || !reflect.DeepEqual(words, c.field.Enum) || c.field.List() && c.field.MaxLength != len(words) {
			t.Errorf("%s: %v in the tag, %v in the list (%v)", c.field.Name, c.field.Enum, words, err)
		}
	}
}

// TestEveryFieldOfARequestIsCheckedWhereItIsStored fails if a field of a request has no namesake in
// the stored type: Validate would not check it.
func TestEveryFieldOfARequestIsCheckedWhereItIsStored(t *testing.T) {
	for _, c := range []struct{ stored, request any }{
		{relabel.Policy{}, api.NewPolicy{}},
		{relabel.RunLimits{}, api.NewRunLimits{}},
	} {
		checkNamesakes(t, reflect.TypeOf(c.stored), reflect.TypeOf(c.request))
	}
}

func checkNamesakes(t *testing.T, stored, request reflect.Type) {
	t.Helper()
	for _, f := range api.Fields(request) {
		field := request.FieldByIndex(f.Index)
		namesake, found := stored.FieldByName(field.Name)
		if !found {
			t.Errorf("%s has no field %s", stored, field.Name)
			continue
		}
		from, to := pointedTo(namesake.Type), pointedTo(field.Type)
		if to.Kind() == reflect.Struct {
			checkNamesakes(t, from, to)
		}
	}
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func TestTheLargestBenchmarkFitsIntoARequest(t *testing.T) {
	b := api.NewBenchmark{Name: "b", Taskset: "t", Limits: &api.NewRunLimits{}}
	for i := range 100_000 {
		b.Instances = append(b.Instances, fmt.Sprint(i))
	}
	for i := range 16_000 {
		b.Excluded = append(b.Excluded, relabel.ExcludedTask{InstanceID: fmt.Sprint(i), Reason: "r"})
	}
	if err := api.Validate(b, api.NewBenchmark{}, ""); err != nil {
		t.Error(err)
	}
	body, err := json.Marshal(b)
	if err == nil {
		err = api.CheckJSON(body, "")
	}
	if err != nil {
		t.Error(err)
	}
	b.Excluded = append(b.Excluded, relabel.ExcludedTask{InstanceID: "x", Reason: "r"})
	if err := api.Validate(b, api.NewBenchmark{}, ""); err == nil {
		t.Error("more exclusions than a request can have are accepted")
	}
}
