package e2e

import (
	"cmp"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
	"relabel/store/storetest"
)

// TestEveryOptionOfAnExportGivesTheSameRequestEverywhere sets each field of api.NewExport and
// compares the requests of the command and of the page with the JSON of REST. A field that either
// of them lacks fails it.
func TestEveryOptionOfAnExportGivesTheSameRequestEverywhere(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	runs := map[relabel.TaskKind]string{relabel.Repair: seedRounds(t, s, relabel.DAgger).ID.String(), relabel.Localise: storetest.SeedLocalise(t, s, 1).Run.ID.String()}
	_, server := p.serve(t)
	tap, sent := tapExports(t, server.Base)
	template := filepath.Join(t.TempDir(), "template.jinja")
	noError(t, os.WriteFile(template, []byte("x"), 0o600))
	for _, c := range []struct {
		kind relabel.TaskKind
		yes  string
	}{{relabel.Repair, "true"}, {relabel.Repair, "false"}, {relabel.Localise, "true"}, {relabel.Localise, "false"}} {
		run, yes := runs[c.kind], c.yes
		options := map[string]any{"run": run}
		args := []string{"export", "start", run, "--server", tap, "--detach"}
		query := url.Values{}
		for _, f := range api.Fields(api.NewExport{}) {
			value, texts := sample(t, f, yes)
			if f.Name == "mix" {
				options["mix"] = mixOptions(t, query)
				args = append(args, "--mix", writeJSON(t, options["mix"]))
				continue
			}
			if f.Name == "run" || value == nil || slices.Contains(ofOtherTasks[c.kind], f.Name) {
				continue
			}
			query[f.Name] = texts
			options[f.Name] = value
			args = append(args, flagsOf(f, texts, template)...)
		}
		if got := requestOnPage(t, server.Base, run, query); !reflect.DeepEqual(got, options) {
			t.Errorf("%s, %s: the page sends\n%v\nwant\n%v", c.kind, yes, got, options)
		}
		delete(options, "template") // a path on the server, which the command does not take
		said, _ := p.command(t, args...)
		select {
		case got := <-sent:
			if !reflect.DeepEqual(got, options) {
				t.Errorf("%s, %s: the command sends\n%v\nwant\n%v", c.kind, yes, got, options)
			}
		default:
			t.Fatalf("the command sends nothing: %s", said)
		}
	}
}

// mixOptions is a value of each field of a mix, which it adds to the fields of the page's form.
func mixOptions(t *testing.T, query url.Values) map[string]any {
	weights := `{"weight":0.5,"iterations":[{"iteration":1,"weight":0.25}],"betas":[{"min":0.5,"max":1,"weight":0.75}],"age_decay":0.9}`
	text := `{"weights":` + weights + `,"sources":[{"run":"other","aggregated":true,"submitted":false,"weights":` + weights + `}],"labels_per_task":7,"unique":true,"sampled":true}`
	var value map[string]any
	noError(t, json.Unmarshal([]byte(text), &value))
	for _, f := range api.Fields(api.NewMix{}) {
		if value[f.Name] == nil {
			t.Fatalf("the test has no value of %s", f.Name)
		}
	}
	query["mix.weights.weight"], query["mix.weights.age_decay"] = []string{"0.5"}, []string{"0.9"}
	query["mix.weights.iterations"], query["mix.weights.betas"] = []string{`[{"iteration":1,"weight":0.25}]`}, []string{`[{"min":0.5,"max":1,"weight":0.75}]`}
	query["mix.sources"] = []string{`[{"run":"other","aggregated":true,"submitted":false,"weights":` + weights + `}]`}
	query["mix.labels_per_task"], query["mix.unique"], query["mix.sampled"] = []string{"7"}, []string{"true"}, []string{"true"}
	return value
}

// writeJSON writes a value to a file.
func writeJSON(t *testing.T, value any) string {
	name := filepath.Join(t.TempDir(), "value.json")
	text, err := json.Marshal(value)
	noError(t, err)
	noError(t, os.WriteFile(name, text, 0o600))
	return name
}

// ofOtherTasks are the fields that do not apply to tasks of a kind. The run with tasks to localise is of
// grpo, which needs mixed rewards.
var ofOtherTasks = map[relabel.TaskKind][]string{
	relabel.Repair:   {"hit", "min_score"},
	relabel.Localise: {"resolved", "verdict_protections", "mixed_rewards"},
}

// samples are values for fields that do not take any text.
var samples = map[string]string{"verdict_protections": "1", "date": "2026-01-02", "destination": "s3://b/p", "template_options": `{"a":1}`}

// sample is a value of a field that is not its default, as JSON and as the texts of a form; nil
// if it has none.
func sample(t *testing.T, f api.Field, yes string) (value any, texts []string) {
	t.Helper()
	text := cmp.Or(samples[f.Name], "x")
	of := f.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Bool:
		if text = yes; yes == "false" && f.Type.Kind() == reflect.Bool {
			return nil, nil
		}
	case reflect.Int:
		text = f.Min + "0"
	case reflect.Float64:
		text = "0.5"
	case reflect.Slice:
		if f.List() {
			var list []any
			texts = f.Enum
			if texts == nil {
				texts = []string{"x", "y"}
			}
			for _, text := range texts {
				list = append(list, text)
			}
			return list, texts
		}
	default:
		if f.Enum != nil {
			text = f.Enum[len(f.Enum)-1]
		}
		return text, []string{text}
	}
	noError(t, json.Unmarshal([]byte(text), &value))
	return value, []string{text}
}

// flagsOf are the flags of the command for a field.
func flagsOf(f api.Field, texts []string, template string) (args []string) {
	tag := reflect.TypeFor[api.NewExport]().FieldByIndex(f.Index).Tag
	name := cmp.Or(tag.Get("name"), strings.ReplaceAll(f.Name, "_", "-"))
	switch {
	case f.Name == "template":
		return nil
	case f.Name == "template_text": // the command reads it from a file
		return []string{"--template", template}
	case texts[0] == "true":
		return []string{"--" + name}
	case texts[0] == "false":
		return []string{"--no-" + name}
	}
	for _, text := range texts {
		args = append(args, "--"+name, text)
	}
	return args
}

// tapExports passes requests on to a server, except those that start an export: it refuses and
// records them.
func tapExports(t *testing.T, server string) (address string, sent chan map[string]any) {
	t.Helper()
	to, err := url.Parse(server)
	noError(t, err)
	sent = make(chan map[string]any, 1)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	tap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/exports" {
			proxy.ServeHTTP(w, r)
			return
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		sent <- body
		w.WriteHeader(http.StatusConflict)
	}))
	t.Cleanup(tap.Close)
	return tap.URL, sent
}

// curlBody finds the request that a page of an operation shows.
var curlBody = regexp.MustCompile(`(?s)id="curl".*? -d '(.*?)'`)

// requestOnPage is the request that the page of an export sends for the chosen values.
func requestOnPage(t *testing.T, server, run string, chosen url.Values) (body map[string]any) {
	t.Helper()
	res, err := http.Get(server + "/runs/" + run + "/export?" + chosen.Encode())
	noError(t, err)
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	noError(t, err)
	shown := curlBody.FindStringSubmatch(html.UnescapeString(string(page)))
	if shown == nil {
		t.Fatalf("%s: the page shows no request: %s", res.Status, page)
	}
	noError(t, json.Unmarshal([]byte(shown[1]), &body))
	return body
}
