package modelfiles

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
)

// atOnce is the number of files that are hashed at the same time.
const atOnce = 4

// computing are the endings of files that change what a model computes; beside are files with such endings that a
// trainer leaves beside a model.
var (
	computing = []string{".safetensors", ".bin", ".pt", ".pth", ".json", ".jinja", ".model", ".tiktoken", ".txt", ".py"}
	beside    = []string{"training_args", "trainer_state", "optimizer", "scheduler", "rng_state", "scaler", "all_results", "train_results", "eval_results"}
)

// Weights are the files of a checkpoint or an adapter.
type Weights struct {
	relabel.LoadedWeights
	Files []WeightFile // by name
}

// WeightFile is a file that changes what a model computes.
type WeightFile struct {
	Name     string
	Bytes    int64
	Modified time.Time
}

// HashWeights hashes the files of a folder that change what its model computes. Its SHA-256 is that of the output of
// sha256sum for these files in the order of their names. CodeInvalid if the folder has neither a checkpoint nor
// an adapter, or if a file changes meanwhile.
func HashWeights(ctx context.Context, folder string) (Weights, error) {
	files, err := WeightFiles(folder)
	if err != nil {
		return Weights{}, err
	}
	sums := make([]string, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, f := range files {
		group.Go(func() (err error) {
			sums[i], err = hashFile(ctx, filepath.Join(folder, f.Name))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Weights{}, err
	}
	all := sha256.New()
	for i, f := range files {
		fmt.Fprintf(all, "%s  %s\n", sums[i], f.Name)
	}
	w := Weights{relabel.LoadedWeights{SHA256: hex.EncodeToString(all.Sum(nil)), Kind: kindOf(files)}, files}
	return w, w.CheckUnchanged(folder)
}

// CheckUnchanged returns CodeInvalid if a file of the folder has changed since it was listed.
func (w Weights) CheckUnchanged(folder string) error {
	now, err := WeightFiles(folder)
	if err != nil {
		return err
	}
	same := func(a, b WeightFile) bool {
		return a.Name == b.Name && a.Bytes == b.Bytes && a.Modified.Equal(b.Modified)
	}
	if !slices.EqualFunc(w.Files, now, same) {
		return relabel.Errorf(relabel.CodeInvalid, "its files have changed meanwhile: wait until the trainer has written them, and load them again").On(folder)
	}
	return nil
}

// WeightFiles lists the files of a folder that change what its model computes, without those of subfolders.
// CodeInvalid if the folder has neither a checkpoint nor an adapter.
func WeightFiles(folder string) (files []WeightFile, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be read").On(folder).Because(err)
	}
	for _, e := range entries {
		if !computes(e.Name()) {
			continue
		}
		info, err := os.Stat(filepath.Join(folder, e.Name())) // of what a link of a cache leads to
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be read").On(filepath.Join(folder, e.Name())).Because(err)
		}
		if info.Mode().IsRegular() {
			files = append(files, WeightFile{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b WeightFile) int { return cmp.Compare(a.Name, b.Name) })
	if kindOf(files) == "" {
		return nil, relabel.Errorf(relabel.CodeInvalid, "has neither an adapter (adapter_config.json and adapter_model.safetensors or .bin) nor a checkpoint (config.json and *.safetensors or *.bin)").On(folder)
	}
	return files, nil
}

func computes(name string) bool {
	if strings.HasPrefix(name, ".") || !slices.Contains(computing, filepath.Ext(name)) {
		return false
	}
	return !slices.ContainsFunc(beside, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// kindOf returns what a folder has; "" if it has no model.
func kindOf(files []WeightFile) relabel.WeightsKind {
	has := func(match func(name string) bool) bool {
		return slices.ContainsFunc(files, func(f WeightFile) bool { return match(f.Name) })
	}
	is := func(want string) func(string) bool { return func(name string) bool { return name == want } }
	switch {
	case has(is("adapter_config.json")) && (has(is("adapter_model.safetensors")) || has(is("adapter_model.bin"))):
		return relabel.WeightsAdapter
	case has(is("config.json")) && has(func(name string) bool {
		return filepath.Ext(name) == ".safetensors" || filepath.Ext(name) == ".bin"
	}):
		return relabel.WeightsCheckpoint
	}
	return ""
}

// hashFile returns the SHA-256 of a file in hex.
func hashFile(ctx context.Context, name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "cannot be read").On(name).Because(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, untilDone{ctx, f}); err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "cannot be read").On(name).Because(err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// untilDone reads until its context ends.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.from.Read(p)
}
