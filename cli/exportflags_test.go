package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel/api"
)

// TestEveryOptionOfAnExportIsAFlag compares what POST /v1/exports takes with what the command
// has flags for.
func TestEveryOptionOfAnExportIsAFlag(t *testing.T) {
	flags := flagsOf(t, "export", "start")
	other := map[string]string{"run": "", "template-text": "template", "views": "view", "end-reasons": "end-reason", "exclude-flags": "exclude-flag", "allow-benchmarks": "allow-benchmark", "allow-secrets": "allow-secret"}
	var options []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[api.NewExport]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || f.Anonymous || f.Tag.Get("readOnly") == "true" {
			continue
		}
		flag := strings.ReplaceAll(name, "_", "-")
		if renamed, ok := other[flag]; ok {
			flag = renamed
		}
		if flag != "" && !slices.Contains(flags, flag) {
			t.Errorf("%s is an option over REST, and the command has no --%s: %v", name, flag, flags)
		}
		options = append(options, flag)
	}
	for _, flag := range flags {
		if flag != "run" && flag != "detach" && !slices.Contains(options, flag) {
			t.Errorf("--%s is no option over REST: %v", flag, options)
		}
	}
}

func TestAnInvalidIdNamesTheCommandThatListsIds(t *testing.T) {
	_, iteration := idOf("iteration", "<iteration>", "collect 1", "run show RUN")
	_, export := idOf("export", "<id>", "first", "export list")
	for want, err := range map[string]error{"relabel run show RUN": iteration, "relabel export list": export} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name `%s`", err, want)
		}
	}
}
