package bench

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/codeindex"
	"relabel/codeindex/languages"
	"relabel/envs/repository"
	"relabel/envs/scaffold/reposearcher"
)

// repositories are mirrors with their indexes, as a worker has them.
type repositories struct {
	*repository.Mirrors
	indexer *repository.Indexer
}

func (r repositories) Index(ctx context.Context, name, commit string) (*codeindex.Index, error) {
	return r.indexer.Index(ctx, name, commit)
}

// BenchmarkSearch calls each tool of a search in a large repository, which is in the index. The baseline reads
// the file of the call from the mirror. Wanted: at most 1 ms at the median.
func BenchmarkSearch(b *testing.B) {
	out, err := exec.Command("../../scripts/large-repository.sh").Output()
	must(b, err)
	dir := strings.TrimSpace(string(out))
	head, err := exec.Command("git", "--git-dir", filepath.Join(dir, "large.git"), "rev-parse", "HEAD").Output()
	must(b, err)
	mirrors, err := repository.Open(dir)
	must(b, err)
	defer mirrors.Close()
	parsers, _ := languages.Open("")
	defer parsers.Close()
	indexer := repository.NewIndexer(repository.IndexerConfig{Mirrors: mirrors, Parsers: parsers, Memory: 1 << 30})
	defer indexer.Close()
	claim := relabel.Claim{Task: relabel.Task{Repo: "large", BaseCommit: strings.TrimSpace(string(head))}}
	claim.Run.Limits = relabel.Localise.DefaultLimits()
	all := repositories{mirrors, indexer}
	e, err := reposearcher.Start(b.Context(), all, claim)
	must(b, err)
	index, err := all.Index(b.Context(), "large", claim.Task.BaseCommit)
	must(b, err)
	for _, tool := range []string{"GetRepoStructure", "GetImportOfFile", "SearchClass", "SearchFunction", "SearchClassMethod", "a wrong name"} {
		b.Run(strings.ReplaceAll(tool, " ", "_"), func(b *testing.B) {
			var took, reading []time.Duration
			targets := targetsOf(index, tool)
			for i := 0; b.Loop(); i++ {
				to := targets[i%len(targets)]
				begun := time.Now()
				_, _, err := mirrors.Read(b.Context(), "large", to.file.Blob, 4<<20)
				reading = append(reading, time.Since(begun))
				must(b, err)
				begun = time.Now()
				o, _, err := e.Execute(b.Context(), 1, relabel.Message{ToolCalls: []relabel.ToolCall{to.call}})
				took = append(took, time.Since(begun))
				must(b, err)
				if o[0].Failed != (tool == "a wrong name") {
					b.Fatal(o[0].Content)
				}
			}
			b.ReportMetric(float64(medianTime(took).Microseconds()), "µs-median")
			b.ReportMetric(float64(medianTime(reading).Microseconds()), "µs-read")
		})
	}
}

// target is a call and the file that it is about.
type target struct {
	call relabel.ToolCall
	file *codeindex.File
}

// targetsOf returns calls of a tool for files all over the index, at most 500.
func targetsOf(index *codeindex.Index, tool string) (all []target) {
	files := index.Files()
	for i := 0; i < len(files) && len(all) < 500; i += max(1, len(files)/2000) {
		f := files[i]
		args := map[string]string{"file": f.Path}
		name := tool
		switch found := slices.IndexFunc(f.Records.Definitions, func(d codeindex.Definition) bool { return kindOf[tool] == d.Kind }); {
		case tool == "GetRepoStructure":
			args = map[string]string{}
		case tool == "GetImportOfFile":
		case tool == "a wrong name":
			name, args["function"] = "SearchFunction", "setup_plattform"
		case found < 0:
			continue
		case tool == "SearchClassMethod":
			full := f.Records.Definitions[found].Name
			dot := strings.LastIndexByte(full, '.')
			args["class"], args["method"] = full[:dot], full[dot+1:]
		default:
			args[map[string]string{"SearchClass": "class", "SearchFunction": "function"}[tool]] = f.Records.Definitions[found].Name
		}
		text, _ := json.Marshal(args)
		all = append(all, target{relabel.ToolCall{Name: name, Arguments: string(text)}, f})
	}
	return all
}

var kindOf = map[string]codeindex.Kind{"SearchClass": codeindex.Class, "SearchFunction": codeindex.Function, "SearchClassMethod": codeindex.Method}

func medianTime(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
