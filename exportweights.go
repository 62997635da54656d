package relabel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// ProvenanceWeights says with which weights the student of an iteration visited the states.
type ProvenanceWeights struct {
	Run       string `json:"run"`
	Iteration int    `json:"iteration"`
	Policy    string `json:"policy"` // id of the student's version
	Model     string `json:"model"`  // as its server names it
	// Loaded are the weights that relabel loaded for this version; nil: it loaded none.
	Loaded *ProvenanceLoaded `json:"loaded,omitempty"`
	// Checks are the checks of the weights before the export was requested, the oldest first; empty: they were not checked, as in
	// imported runs.
	Checks []ProvenanceCheck `json:"checks"`
}

// ProvenanceLoaded are weights that relabel loaded.
type ProvenanceLoaded struct {
	Kind   WeightsKind `json:"kind"`
	SHA256 string      `json:"sha256"` // see LoadedWeights
}

// ProvenanceCheck is a check of the weights at all addresses.
type ProvenanceCheck struct {
	Occasion     WeightOccasion `json:"occasion"`
	At           time.Time      `json:"at"`
	Result       WeightResult   `json:"result"`
	Fingerprints []string       `json:"fingerprints"`      // Fingerprint.Hash of each address that gave one, in the order of the addresses
	Doubts       []WeightDoubt  `json:"doubts,omitempty"`  // absent: none
	Allowed      []WeightDoubt  `json:"allowed,omitempty"` // those of them that were allowed (allow_weights); absent: none
}

// Provenance is the check as manifests have it.
func (c WeightCheck) Provenance() ProvenanceCheck {
	p := ProvenanceCheck{Occasion: c.Occasion, At: c.At.UTC(), Result: c.Result, Fingerprints: []string{}}
	for _, f := range c.Fingerprints {
		if f.Taken() {
			p.Fingerprints = append(p.Fingerprints, f.Hash())
		}
	}
	for _, d := range c.Doubts {
		p.Doubts = append(p.Doubts, d.Doubt)
		if d.Allowed {
			p.Allowed = append(p.Allowed, d.Doubt)
		}
	}
	return p
}

// Hash is the SHA-256, in hex, of what the model answered: the same answer has the same hash. Weights that are equal may
// differ in it, since servers round; Distance compares them. It is "" without a fingerprint.
func (f Fingerprint) Hash() string {
	if !f.Taken() {
		return ""
	}
	text, err := json.Marshal(struct {
		Version  int       `json:"version"`
		Method   string    `json:"method"`
		Texts    []int32   `json:"texts"`
		Tokens   []string  `json:"tokens"`
		Logprobs []float32 `json:"logprobs"`
	}{f.Version, f.Method, f.Texts, f.Tokens, f.Logprobs})
	if err != nil {
		return "" // a log-probability that is no number, which no answer has
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
