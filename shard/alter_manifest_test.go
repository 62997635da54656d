package shard

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
)

// figures are changes of what the manifest says, each of which is wrong. What none of them
// touches nobody can know: docs/shard-format.md names it.
var figures = map[string]func(r *rand.Rand, m *relabel.Manifest) bool{
	"schema_version": func(_ *rand.Rand, m *relabel.Manifest) bool { m.SchemaVersion++; return true },
	"views":          func(_ *rand.Rand, m *relabel.Manifest) bool { m.Views = m.Views[1:]; return true },
	"views twice":    func(_ *rand.Rand, m *relabel.Manifest) bool { m.Views = append(m.Views, m.Views[0]); return true },
	"capacity": func(_ *rand.Rand, m *relabel.Manifest) bool {
		if m.Fill["packed"] == 0 {
			return false
		}
		*m.Capacity += 7
		return true
	},
	"no capacity": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Capacity = nil; return true },
	"loss_mask":   func(_ *rand.Rand, m *relabel.Manifest) bool { m.LossMask["tree"] = "token"; return true },
	"alignment": func(_ *rand.Rand, m *relabel.Manifest) bool {
		_, there := m.LossMask["packed"]
		m.LossMask["packed"] = "token"
		return there
	},
	"fill": func(_ *rand.Rand, m *relabel.Manifest) bool {
		_, there := m.Fill["packed"]
		m.Fill["packed"] *= 1.001
		return there
	},
	"deduplication_ratio": func(_ *rand.Rand, m *relabel.Manifest) bool {
		*m.DeduplicationRatio *= 2
		return m.Fill["tree"] > 0
	},
	"file rows":       ofFile(func(f *relabel.ManifestFile) { f.Rows++ }),
	"file tokens":     ofFile(func(f *relabel.ManifestFile) { f.Tokens++ }),
	"file supervised": ofFile(func(f *relabel.ManifestFile) { f.SupervisedTokens-- }),
	"file bytes":      ofFile(func(f *relabel.ManifestFile) { f.Bytes++ }),
	"file sha256":     ofFile(func(f *relabel.ManifestFile) { f.SHA256 = strings.Repeat("0", 64) }),
	"file path":       ofFile(func(f *relabel.ManifestFile) { f.Path = string(f.View) + "/99999.parquet" }),
	"file view": ofFile(func(f *relabel.ManifestFile) {
		f.View = map[bool]relabel.View{true: relabel.ViewTree, false: relabel.ViewLinear}[f.View == relabel.ViewLinear]
	}),
	"a run unnamed":    func(_ *rand.Rand, m *relabel.Manifest) bool { m.Provenance.Runs = m.Provenance.Runs[1:]; return true },
	"a policy unnamed": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Provenance.Policies = nil; return true },
	"a round's weights": func(_ *rand.Rand, m *relabel.Manifest) bool {
		if len(m.Provenance.Weights) < 2 {
			return false // without any it is an export of an earlier version
		}
		m.Provenance.Weights = m.Provenance.Weights[1:]
		return true
	},
	"a student's model": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Provenance.Weights[0].Model += "x"; return true },
	"a hash of weights": func(_ *rand.Rand, m *relabel.Manifest) bool {
		m.Provenance.Weights[0].Loaded = &relabel.ProvenanceLoaded{Kind: relabel.WeightsAdapter, SHA256: "ABC"}
		return true
	},
	"a fingerprint": ofCheck(func(c *relabel.ProvenanceCheck) { c.Fingerprints = []string{"x"} }),
	"an occasion":   ofCheck(func(c *relabel.ProvenanceCheck) { c.Occasion = "load" }),
	"a doubt":       ofCheck(func(c *relabel.ProvenanceCheck) { c.Doubts = []relabel.WeightDoubt{"same"} }),
	"a doubt that only is allowed": ofCheck(func(c *relabel.ProvenanceCheck) {
		c.Allowed = []relabel.WeightDoubt{"same"}
	}),
	"tasks":  func(_ *rand.Rand, m *relabel.Manifest) bool { m.Provenance.Tasks++; return true },
	"images": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Provenance.Images.Pinned++; return true },
	"an uncounted secret": func(_ *rand.Rand, m *relabel.Manifest) bool {
		m.Secrets.First = append(m.Secrets.First, relabel.FoundSecret{Rule: "jwt"})
		return true
	},
	"a file less": func(r *rand.Rand, m *relabel.Manifest) bool { m.Files = m.Files[1:]; return true },
	"tokenizer": func(_ *rand.Rand, m *relabel.Manifest) bool {
		m.Tokenizer.SHA256 = "0" + m.Tokenizer.SHA256[1:] + "1"
		return true
	},
	"stop":       func(_ *rand.Rand, m *relabel.Manifest) bool { m.Tokenizer.Stop += "x"; return true },
	"stop_id":    func(_ *rand.Rand, m *relabel.Manifest) bool { m.Tokenizer.StopID++; return true },
	"pad_id":     func(_ *rand.Rand, m *relabel.Manifest) bool { m.Tokenizer.PadID++; return true },
	"template":   func(_ *rand.Rand, m *relabel.Manifest) bool { m.Template.SHA256 += "0"; return true },
	"arguments":  func(_ *rand.Rand, m *relabel.Manifest) bool { m.Template.Arguments = "otherwise"; return true },
	"iterations": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Iterations[0] += 5; return len(m.Fill) > 0 },
	"beta": func(_ *rand.Rand, m *relabel.Manifest) bool {
		b := 0.77
		m.Beta[0] = &b
		return len(m.Fill) > 0
	},
	"label_rules": func(_ *rand.Rand, m *relabel.Manifest) bool {
		m.LabelRules = append(m.LabelRules, relabel.ManifestRule{Rule: "all", Unbiased: true})
		return m.Recipe == relabel.DAgger
	},
	"unbiased": func(_ *rand.Rand, m *relabel.Manifest) bool {
		if len(m.LabelRules) == 0 {
			return false
		}
		m.LabelRules[0].Unbiased = false
		return true
	},
	"normalisation": func(_ *rand.Rand, m *relabel.Manifest) bool {
		other := map[relabel.Normalisation]relabel.Normalisation{relabel.PerToken: relabel.PerTransition, relabel.PerTransition: relabel.PerToken}[*m.Normalisation]
		m.Normalisation = &other
		return true
	},
	"states":   func(_ *rand.Rand, m *relabel.Manifest) bool { m.States--; return true },
	"excluded": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Excluded["label_missing"]++; return true },
	"trajectories": func(_ *rand.Rand, m *relabel.Manifest) bool {
		m.Trajectories.Count++
		m.Trajectories.Verdicts["none"]++
		return true
	},
	"executors": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Trajectories.Executors[relabel.Student]++; return true },
	"verdicts":  func(_ *rand.Rand, m *relabel.Manifest) bool { m.Trajectories.Verdicts["none"]--; return true },
	"kappas": func(_ *rand.Rand, m *relabel.Manifest) bool {
		m.Trajectories.Kappas["3"] = m.Trajectories.Count + 1
		return true
	},
	"served": func(_ *rand.Rand, m *relabel.Manifest) bool { m.Served++; return len(m.Fill) > 0 },
}

// ofCheck changes a check of weights that is right otherwise.
func ofCheck(change func(*relabel.ProvenanceCheck)) func(*rand.Rand, *relabel.Manifest) bool {
	return func(_ *rand.Rand, m *relabel.Manifest) bool {
		c := relabel.ProvenanceCheck{Occasion: relabel.WeightsAtStart, At: time.Unix(1, 0).UTC(), Result: relabel.WeightsChecked, Fingerprints: []string{strings.Repeat("a", 64)}}
		change(&c)
		m.Provenance.Weights[0].Checks = []relabel.ProvenanceCheck{c}
		return true
	}
}

func ofFile(do func(*relabel.ManifestFile)) func(*rand.Rand, *relabel.Manifest) bool {
	return func(r *rand.Rand, m *relabel.Manifest) bool {
		do(&m.Files[r.Intn(len(m.Files))])
		return true
	}
}

// alterFigure changes a figure of the manifest.
func alterFigure(t testing.TB, r *rand.Rand, dir string) (altered, bool) {
	m := readManifest(t, dir)
	names := slices.Sorted(maps.Keys(figures))
	name := names[r.Intn(len(names))]
	if !figures[name](r, &m) {
		return altered{}, false
	}
	writeJSON(t, filepath.Join(dir, manifestName), m)
	return altered{what: "the manifest's " + name}, true
}

// alterBytes changes a byte of a file, takes the file away, or adds one.
func alterBytes(t testing.TB, r *rand.Rand, dir string) (altered, bool) {
	m := readManifest(t, dir)
	f := m.Files[r.Intn(len(m.Files))]
	name := filepath.Join(dir, f.Path)
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var what string
	switch r.Intn(6) {
	case 0:
		what, err = "the file is gone", os.Remove(name)
	case 1:
		what, err = "a file more", os.WriteFile(name+".more", raw, 0o644)
	case 2:
		what, err = "the file ends before its end", os.WriteFile(name, raw[:r.Intn(len(raw))], 0o644)
	default:
		at := r.Intn(len(raw))
		raw[at] ^= 1 << r.Intn(8)
		what, err = fmt.Sprintf("byte %d", at), os.WriteFile(name, raw, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return altered{what: f.Path + ": " + what}, true
}

// alterBeside changes a word of the files that are of no view.
func alterBeside(t testing.TB, r *rand.Rand, dir string) (altered, bool) {
	changes := [][3]string{{readmeName, "config_name: ", "config_nam: "}, {excludedName, `"states":1`, `"states":2`}, {excludedName, `"label_missing"`, `"label_mussing"`},
		{excludedName, `"turn":`, `"tourn":`}, {manifestName, `"run"`, `"ran"`}, {manifestName, `"bytes"`, `"octets"`}, {manifestName, `"capacity"`, `"Capacity2"`}}
	c := changes[r.Intn(len(changes))]
	name := filepath.Join(dir, c[0])
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), c[1]) {
		return altered{}, false
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(raw), c[1], c[2], 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return altered{what: fmt.Sprintf("%s: %s is %s", c[0], c[1], c[2])}, true
}
