package reposearcher

import (
	"context"
	"slices"
	"strings"
	"time"

	"relabel"
	"relabel/codeindex"
	"relabel/ranking"
)

// Grade scores a submission, which Episode.Patch returned: nDCG@depth of its entries (equation 1) by the
// task's gold functions, or by the gold files if it has none. Errors are those of Repositories.
func Grade(ctx context.Context, repositories Repositories, task relabel.Task, list []byte, depth int) (relabel.Verdict, error) {
	begun := time.Now()
	entries := strings.FieldsFunc(string(list), func(r rune) bool { return r == '\n' })
	v := relabel.Verdict{Reason: relabel.VerdictScored, Score: new(0.0), Hits: new(0), At: begun}
	if len(entries) == 0 {
		v.Reason = relabel.VerdictNoAnswer
		return v, nil
	}
	index, err := repositories.Index(ctx, task.Repo, task.BaseCommit)
	if err != nil {
		return relabel.Verdict{}, err
	}
	ranked, gold := entries, task.GoldFunctions
	if len(gold) == 0 {
		ranked, gold = ranking.Files(entries), task.GoldFiles
	}
	*v.Score, _ = ranking.NDCG(ranked, gold, depth)
	for _, entry := range ranked {
		if slices.Contains(gold, entry) {
			*v.Hits++
		}
	}
	for _, entry := range entries {
		hit := slices.Contains(gold, entry) || len(task.GoldFunctions) == 0 && slices.Contains(gold, ranking.File(entry))
		v.Ranking = append(v.Ranking, relabel.Location{Name: entry, Known: known(index, entry), Hit: hit})
	}
	v.Millis = time.Since(begun).Milliseconds()
	return v, nil
}

// known reports whether the index has an entry.
func known(index *codeindex.Index, entry string) bool {
	path, name, is := strings.Cut(entry, "::")
	file := index.File(path)
	if file == nil || !is {
		return file != nil
	}
	return slices.ContainsFunc(file.Records.Definitions, func(d codeindex.Definition) bool { return d.Name == name })
}
