package bench

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/store"
)

// The load on one database: worker processes, and how many of each one's trajectories
// write at the same time.
const (
	hammerProcesses    = 4
	hammerAtOnce       = 16
	hammerTrajectories = 200 // of each process
	hammerTurns        = 10
	bareWrites         = 2000 // of each process
)

// pounded is what one process did, in milliseconds a piece.
type pounded struct {
	Bare, Claims, Commits []float64
	BareTook, ClaimsTook  float64 // seconds for all of them
	CommitsTook           float64
}

// BenchmarkClaimsAndCommits lets four processes claim and commit turns as fast as one
// database bears. Its baseline is what the same processes reach with the smallest write
// there is, a row and a commit.
func BenchmarkClaimsAndCommits(b *testing.B) {
	for b.Loop() {
		url := databaseURL(b)
		s := openStore(b, url)
		_, err := s.Pool().Exec(context.Background(), "CREATE TABLE bare (v text)")
		must(b, err)
		begin(b, s, roundOf{trajectories: hammerProcesses * hammerTrajectories, turns: hammerTurns, beta: 0.5})
		var all []*process
		for i := range hammerProcesses {
			all = append(all, start(b, orders{Database: url, Name: "hammer" + string(rune('0'+i)), Hammer: true, Rollouts: hammerAtOnce, Turns: hammerTurns}))
		}
		said := make([]pounded, len(all))
		for i, p := range all {
			p.hear(b, &said[i])
			must(b, p.stop())
		}
		var bare, claims, commits []float64
		var bareRate, claimRate, commitRate float64
		for _, p := range said {
			bare, claims, commits = append(bare, p.Bare...), append(claims, p.Claims...), append(commits, p.Commits...)
			bareRate += float64(len(p.Bare)) / p.BareTook
			claimRate += float64(len(p.Claims)) / p.ClaimsTook
			commitRate += float64(len(p.Commits)) / p.CommitsTook
		}
		b.ReportMetric(bareRate, "bare/s")
		b.ReportMetric(claimRate, "claims/s")
		b.ReportMetric(commitRate, "commits/s")
		b.ReportMetric(commitRate/bareRate, "x-bare")
		for name, took := range map[string][]float64{"bare": bare, "claim": claims, "commit": commits} {
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], name+"-p50-ms")
			b.ReportMetric(took[len(took)*99/100], name+"-p99-ms")
		}
	}
}

// hammer writes to the store as fast as it can and prints a pounded.
func hammer(ctx context.Context, o orders) error {
	s, err := store.Open(ctx, o.Database)
	if err != nil {
		return err
	}
	defer s.Close()
	var p pounded
	p.Bare, p.BareTook, err = pound(o.Rollouts, bareWrites, func(int) (time.Duration, error) {
		began := time.Now()
		_, err := s.Pool().Exec(ctx, "INSERT INTO bare VALUES ('x')")
		return time.Since(began), err
	})
	if err != nil {
		return err
	}
	claims := make([]relabel.Claim, hammerTrajectories)
	p.Claims, p.ClaimsTook, err = pound(o.Rollouts, hammerTrajectories, func(i int) (took time.Duration, err error) {
		began := time.Now()
		claims[i], err = s.ClaimNext(ctx, o.Name, relabel.Repair, time.Hour)
		return time.Since(began), err
	})
	if err != nil {
		return err
	}
	// The turns of a trajectory follow each other: those of the same number go at once.
	for t := 1; t <= o.Turns; t++ {
		made := make([]relabel.Turn, len(claims))
		for i, c := range claims {
			made[i] = makeTurn(c, t, rand.New(rand.NewPCG(uint64(i), uint64(t))))
		}
		took, seconds, err := pound(o.Rollouts, len(claims), func(i int) (time.Duration, error) {
			began := time.Now()
			err := s.CommitTurn(ctx, claims[i].Fence, made[i])
			return time.Since(began), err
		})
		if err != nil {
			return err
		}
		p.Commits, p.CommitsTook = append(p.Commits, took...), p.CommitsTook+seconds
	}
	return json.NewEncoder(os.Stdout).Encode(p)
}

// pound does something n times, some at once, and returns how long each took, in
// milliseconds, and all of them, in seconds.
func pound(atOnce, n int, do func(i int) (time.Duration, error)) (each []float64, all float64, err error) {
	next := make(chan int)
	var mu sync.Mutex
	var work sync.WaitGroup
	began := time.Now()
	for range atOnce {
		work.Go(func() {
			for i := range next {
				took, failed := do(i)
				mu.Lock()
				each = append(each, took.Seconds()*1000)
				if failed != nil {
					err = failed
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	work.Wait()
	return each, time.Since(began).Seconds(), err
}
