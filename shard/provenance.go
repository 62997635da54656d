package shard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/chat"
)

// taskFacts are what a data card says of a task.
type taskFacts struct {
	Repo    string `json:"repo,omitempty"`
	Licence string `json:"licence,omitempty"`
	Image   string `json:"image,omitempty"`
}

func factsOf(t relabel.Task) taskFacts { return taskFacts{t.Repo, t.Licence, t.Image} }

// addTask adds the task of a trajectory with an exported label.
func (s *summary) addTask(id string, facts taskFacts) {
	if s.Tasks == nil {
		s.Tasks = map[string]taskFacts{}
	}
	s.Tasks[id] = facts
}

// provenance returns where the labels of an export come from; nil if a part was built by an earlier version, which did
// not keep that.
func (x *Exporter) provenance(ctx context.Context, e relabel.Export, sum summary, sources []sourceSummary) (*relabel.ManifestProvenance, error) {
	if sum.unscanned || len(sum.Tasks) == 0 {
		return nil, nil
	}
	p := &relabel.ManifestProvenance{Relabel: x.Version, Policies: policiesOf(sources), Tasks: len(sum.Tasks),
		Repositories: repositoriesOf(sum.Tasks)}
	var err error
	if p.Images, err = x.images(ctx, sum.Tasks); err != nil {
		return nil, err
	}
	for n := range e.Sources() {
		if set := e.Source(n).Selection.Conversations; set != nil {
			p.Conversations = append(p.Conversations, relabel.ProvenanceConversations{Name: set.Name, SHA256: set.Digest})
			continue
		}
		run, err := x.provenanceRun(ctx, e.Source(n).Selection.RunID)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(p.Runs, run) {
			p.Runs = append(p.Runs, run)
		}
	}
	if p.Weights, err = x.weights(ctx, e, sources); err != nil {
		return nil, err
	}
	ids := make([]relabel.ID, 0, len(sum.Tasks))
	for _, id := range slices.Sorted(maps.Keys(sum.Tasks)) {
		task, err := relabel.ParseID("task", id)
		if err != nil {
			return nil, err
		}
		ids = append(ids, task)
	}
	p.Benchmarks, err = x.Store.ExportBenchmarks(ctx, ids)
	return p, err
}

func (x *Exporter) provenanceRun(ctx context.Context, id relabel.ID) (p relabel.ProvenanceRun, err error) {
	run, err := x.Store.FindRun(ctx, id)
	if err != nil {
		return p, err
	}
	set, err := x.Store.FindTaskset(ctx, run.TasksetID)
	if err != nil {
		return p, err
	}
	return relabel.ProvenanceRun{ID: run.ID.String(), Name: run.Name, Recipe: run.Recipe, Scaffold: run.Scaffold,
		Taskset: relabel.ProvenanceTaskset{Name: set.Name, Revision: run.TasksetRevision, Digest: set.Digest},
		Prompts: relabel.ProvenancePrompts{System: hashText(run.Prompts.System), First: hashText(run.Prompts.First), Tools: hashText(string(chat.AppendTools(nil, run.Prompts.Tools)))}}, nil
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// policiesOf lists the teachers and students of all sources.
func policiesOf(sources []sourceSummary) []relabel.ProvenancePolicy {
	all := map[relabel.ID]relabel.ProvenancePolicy{}
	add := func(p relabel.Policy, role relabel.Role) {
		if p.ID == (relabel.ID{}) {
			return
		}
		roles := all[p.ID].Roles
		if !slices.Contains(roles, role) {
			roles = append(roles, role)
			slices.Sort(roles)
		}
		all[p.ID] = relabel.ProvenancePolicy{ID: p.ID.String(), Name: p.Name, Version: p.Version, Model: p.Model, Roles: roles, Sampling: p.Sampling}
	}
	for _, s := range sources {
		for _, it := range s.Iterations {
			add(it.Teacher, relabel.Teacher)
			add(it.Student, relabel.Student)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b relabel.ProvenancePolicy) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.ID, b.ID))
	})
}

// repositoriesOf counts tasks by repository and licence.
func repositoriesOf(tasks map[string]taskFacts) []relabel.ProvenanceRepository {
	counts := map[[2]string]int{}
	for _, t := range tasks {
		counts[[2]string{t.Repo, t.Licence}]++
	}
	all := make([]relabel.ProvenanceRepository, 0, len(counts))
	for of, n := range counts {
		all = append(all, relabel.ProvenanceRepository{Name: of[0], Licence: of[1], Tasks: n})
	}
	slices.SortFunc(all, func(a, b relabel.ProvenanceRepository) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Licence, b.Licence))
	})
	return all
}

// mostImages bounds the images that a manifest lists.
const mostImages = 1000

// images describes the images of tasks; those to localise have none.
func (x *Exporter) images(ctx context.Context, tasks map[string]taskFacts) (images relabel.ProvenanceImages, err error) {
	names := map[string]bool{}
	for _, t := range tasks {
		if t.Image != "" {
			names[t.Image] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	found, err := x.Store.ExportImages(ctx, all)
	if err != nil {
		return images, err
	}
	images.Count, images.List = len(all), []relabel.ProvenanceImage{}
	hash := sha256.New()
	for _, name := range all {
		hash.Write([]byte(name + "\n"))
		_, digest, pinned := strings.Cut(name, "@")
		if pinned {
			images.Pinned++
		} else {
			digest = found[name]
		}
		if digest != "" {
			images.Known++
		}
		if len(images.List) < mostImages {
			images.List = append(images.List, relabel.ProvenanceImage{Name: name, Digest: digest})
		}
	}
	images.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return images, nil
}
