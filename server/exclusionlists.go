package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

func (s *site) addExclusionLists() {
	add(s, operation(http.MethodPost, "/v1/exclusions", "benchmarks", "create-exclusion", "Add an exclusion list",
		"Stores a named list of instance ids and repositories. Their tasks, of any task set, are neither drawn for collection nor exported, unless that is allowed (allow_benchmarks)."), s.createExclusion)
	add(s, operation(http.MethodGet, "/v1/exclusions", "benchmarks", "list-exclusions", "List exclusion lists", "Exclusion lists, newest first."), s.listExclusions)
	add(s, operation(http.MethodGet, "/v1/exclusions/{id}", "benchmarks", "show-exclusion", "Show an exclusion list", "One exclusion list with its entries and what it reserves."), s.showExclusion)
	add(s, operation(http.MethodDelete, "/v1/exclusions/{id}", "benchmarks", "delete-exclusion", "Delete an exclusion list",
		"Deletes an exclusion list, which then reserves no task, and returns it. Existing exports do not change."), s.deleteExclusion)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/overlaps", "tasksets", "list-overlaps", "Compare tasks with others",
		"What the tasks of a task set have in common with benchmarks, exclusion lists and task sets: the same instance, repository and commit, repository, or a patch that overlaps."), s.listOverlaps)
}

func (s *site) createExclusion(ctx context.Context, in *of[api.NewExclusionList]) (*of[api.ExclusionView], error) {
	if err := checkBenchmarkName(in.Body.Name); err != nil {
		return nil, err
	}
	for i, entry := range in.Body.Entries {
		if !relabel.IsExclusionEntry(entry) {
			return nil, relabel.Errorf(relabel.CodeInvalid, "is neither an instance id nor a repository (owner/name)").On(fmt.Sprintf("entries[%d]", i))
		}
	}
	list := relabel.Exclusion{ID: relabel.NewID(), Name: in.Body.Name}
	if err := s.Store.CreateExclusion(ctx, list, in.Body.Entries); err != nil {
		return nil, err
	}
	return s.showExclusion(ctx, &IDPath{ID: list.ID})
}

func (s *site) listExclusions(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Exclusion]], error) {
	return pageOf(s.Store.ListExclusions(ctx, page(*in)))
}

func (s *site) showExclusion(ctx context.Context, in *IDPath) (*of[api.ExclusionView], error) {
	list, err := s.Store.FindExclusion(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	view := api.ExclusionView{Exclusion: list}
	if view.List, err = s.Store.ListExclusionEntries(ctx, list.ID); err != nil {
		return nil, err
	}
	view.Reserves, err = s.Store.CountExcluded(ctx, list.ID)
	return one(view, err)
}

func (s *site) deleteExclusion(ctx context.Context, in *IDPath) (*of[relabel.Exclusion], error) {
	list, err := s.Store.FindExclusion(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return one(list, s.Store.DeleteExclusion(ctx, in.ID))
}

// findExclusion finds an exclusion list by its id or its name.
func (s *site) findExclusion(ctx context.Context, word string) (relabel.Exclusion, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindExclusion(ctx, id)
	}
	return s.Store.FindExclusionByName(ctx, word)
}

func (s *site) exclusionID(ctx context.Context, name string) (relabel.ID, error) {
	list, err := s.findExclusion(ctx, name)
	return list.ID, err
}

func (s *site) listOverlaps(ctx context.Context, in *struct {
	IDPath
	api.OverlapsQuery
}) (*of[relabel.OverlapReport], error) {
	set, err := s.Store.FindTasksetAt(ctx, in.ID, in.Revision)
	if err != nil {
		return nil, err
	}
	query := relabel.OverlapQuery{TasksetID: set.ID, Revision: in.Revision, Entries: in.Entries, Threshold: in.Threshold}
	for i, word := range in.With {
		if err := s.compareWith(ctx, word, &query); err != nil {
			return nil, asField(err, fmt.Sprintf("query.other[%d]", i))
		}
	}
	if len(in.With)+len(in.Entries) == 0 {
		if err := s.compareWithAll(ctx, &query); err != nil {
			return nil, err
		}
		if set.Tasks <= relabel.MostComparedTasks {
			query.Tasksets = []relabel.Taskset{set}
		}
	}
	return one(s.Store.FindOverlaps(ctx, query))
}

// compareWith adds what a word names to a comparison: a benchmark, an exclusion list or a task set.
func (s *site) compareWith(ctx context.Context, word string, query *relabel.OverlapQuery) error {
	kind, name, prefixed := strings.Cut(word, ":")
	if !prefixed || kind != "benchmark" && kind != "exclusions" && kind != "taskset" {
		kind, name = "", word
	}
	if kind == "" || kind == "benchmark" {
		b, err := s.findBenchmark(ctx, name)
		if err == nil {
			query.Benchmarks = append(query.Benchmarks, b)
		}
		if err == nil || kind != "" || relabel.CodeOf(err) != relabel.CodeNotFound {
			return err
		}
	}
	if kind == "" || kind == "exclusions" {
		list, err := s.findExclusion(ctx, name)
		if err == nil {
			query.Exclusions = append(query.Exclusions, list)
		}
		if err == nil || kind != "" || relabel.CodeOf(err) != relabel.CodeNotFound {
			return err
		}
	}
	set, err := s.findTaskset(ctx, name)
	if kind == "" && relabel.CodeOf(err) == relabel.CodeNotFound {
		return relabel.Errorf(relabel.CodeNotFound, "no benchmark, exclusion list or task set is named %.100q", name)
	}
	query.Tasksets = append(query.Tasksets, set)
	return err
}

// compareWithAll adds all benchmarks with a name and all exclusion lists to a comparison.
func (s *site) compareWithAll(ctx context.Context, query *relabel.OverlapQuery) (err error) {
	query.Benchmarks, err = relabel.AllPages(func(p relabel.Page) ([]relabel.Benchmark, string, error) {
		return s.Store.ListBenchmarks(ctx, relabel.BenchmarkFilter{}, p)
	})
	if err != nil {
		return err
	}
	query.Exclusions, err = relabel.AllPages(func(p relabel.Page) ([]relabel.Exclusion, string, error) {
		return s.Store.ListExclusions(ctx, p)
	})
	return err
}
