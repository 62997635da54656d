package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"relabel"
	"relabel/api"
	"relabel/api/client"
	"relabel/safetext"
)

// trajectorySearch is `relabel trajectory search TEXT`.
type trajectorySearch struct {
	ClientFlags
	api.TrajectoryQuery
	Words string `arg:"" name:"text" help:"Text to search for, in any case."`
}

// Run prints the matching trajectories as they are found, with the first matches of each, and
// finally, on standard error, how many were searched.
func (c *trajectorySearch) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if err := mustExist(ctx, cl, c.TrajectoryQuery.Run); err != nil {
			return err
		}
		query := client.Values(c.TrajectoryQuery)
		query.Set("text", c.Words)
		var sum relabel.TextPage
		found := 0
		for {
			page, err := searchPage(ctx, cl, query)
			if err != nil {
				return err
			}
			for _, f := range page.Items {
				printFound(f)
			}
			found, sum.Searched, sum.Bytes = found+len(page.Items), sum.Searched+page.Searched, sum.Bytes+page.Bytes
			if page.Next == "" {
				break
			}
			query.Set("after", page.Next)
		}
		fmt.Fprintf(os.Stderr, "%d trajectories looked through, %.1f MB: found in %d\n", sum.Searched, float64(sum.Bytes)/1e6, found)
		return nil
	})
}

// searchPage requests one page and retries while the server is too busy.
func searchPage(ctx context.Context, cl *Session, query url.Values) (page relabel.TextPage, err error) {
	err = poll(ctx, time.Second, func() (over bool, err error) {
		page, err = cl.SearchTexts(ctx, query)
		if relabel.CodeOf(err) == relabel.CodeBusy {
			return false, nil
		}
		return true, err
	})
	return page, err
}

// printFound prints a trajectory and its first matches, one per line.
func printFound(f relabel.TextFound) {
	t := f.Trajectory
	fmt.Printf("%s  %s  %s %d  %s  matches: %d\n", t.ID, safetext.TerminalLine(t.InstanceID), t.Kind, t.Iteration, t.Verdict, f.Matches)
	for _, m := range f.First {
		where := m.Place
		if m.T > 0 {
			where = fmt.Sprintf("turn %d, %s: %s", m.T, m.Executor, m.Place)
		}
		fmt.Printf("    %s  %s\n", safetext.TerminalLine(where), safetext.TerminalLine(m.Before+m.Text+m.After))
	}
}
