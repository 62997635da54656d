package relabel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// WeightDoubt is a reason to doubt that a student's weights are those that its policy version stands for. An
// iteration does not start with a doubt that it does not allow.
type WeightDoubt string

// The doubts.
const (
	WeightsDiffer    WeightDoubt = "different" // the addresses of the policy do not have the same weights
	WeightsSame      WeightDoubt = "same"      // an earlier round's student, under another version, has the same weights
	WeightsChanged   WeightDoubt = "changed"   // this version had other weights before
	WeightsUnchecked WeightDoubt = "unchecked" // an address that can give a fingerprint gave none
)

// WeightDoubts are all doubts.
var WeightDoubts = []WeightDoubt{WeightsDiffer, WeightsSame, WeightsChanged, WeightsUnchecked}

// Tolerances of distances between fingerprints, in nats. docs/policies.md has the measurements behind them.
const (
	// EqualWeights bounds the distance between addresses with the same weights: other hardware and other
	// parallelism round differently.
	EqualWeights = 0.03
	// SameServer bounds the distance between two fingerprints of one address with the same weights.
	SameServer = 0.002
	// noiseFactor times the measured noise bounds both if the noise is larger than expected.
	noiseFactor = 3
)

// Fingerprint is what a model at an address gives for fixed texts: the most probable next tokens of each text,
// with their log-probabilities. It needs no tokenizer and changes with the weights.
type Fingerprint struct {
	BaseURL string `json:"base_url" doc:"The address."`
	Version int    `json:"version,omitempty" doc:"Version of the fixed texts; absent: no fingerprint."`
	Method  string `json:"method,omitempty" doc:"How it was taken: completions (the texts as they are), or chat (the texts as messages, so that a chat template that prints the date changes it)."`
	// Noise is the distance between two takes: one request per text, then all texts together.
	Noise  float64 `json:"noise" doc:"Distance between two takes, of single requests and of a batch, in nats."`
	Reason string  `json:"reason,omitempty" doc:"Why there is no fingerprint; absent if there is one."`
	// Able reports whether the kind of server gives log-probabilities, so that a missing fingerprint is a
	// doubt.
	Able   bool   `json:"able" doc:"Whether this kind of server gives log-probabilities."`
	SHA256 string `json:"sha256,omitempty" doc:"SHA-256 of the answers, by which manifests of exports name the fingerprint; absent without one. Equal weights may give another one, since servers round."`
	// Tokens and Logprobs have the next tokens of all texts, one text after the other; Texts has the number of
	// tokens of each.
	Texts    []int32   `json:"-"`
	Tokens   []string  `json:"-"`
	Logprobs []float32 `json:"-"`
}

// Taken reports whether there is a fingerprint.
func (f Fingerprint) Taken() bool { return f.Reason == "" && len(f.Texts) > 0 }

// Distance is the mean difference of the two log-probabilities of a token, in nats, over all tokens that one of
// the two lists. A token that the other does not list counts as its least probable one. It is +Inf if the
// fingerprints are not of the same texts and method.
func (f Fingerprint) Distance(g Fingerprint) float64 {
	if f.Version != g.Version || f.Method != g.Method || len(f.Texts) != len(g.Texts) || !f.Taken() {
		return math.Inf(1)
	}
	sum, n := 0.0, 0
	a, b := 0, 0
	for i := range f.Texts {
		left, right := f.listed(a, f.Texts[i]), g.listed(b, g.Texts[i])
		a, b = a+int(f.Texts[i]), b+int(g.Texts[i])
		for token, p := range left {
			sum += math.Abs(p - right.of(token, p))
			n++
		}
		for token, p := range right {
			if _, both := left[token]; !both {
				sum += math.Abs(p - left.of(token, p))
				n++
			}
		}
	}
	return sum / float64(max(n, 1))
}

// nextTokens are the most probable next tokens of a text.
type nextTokens map[string]float64

func (f Fingerprint) listed(from int, n int32) nextTokens {
	listed := nextTokens{}
	for i := from; i < from+int(n); i++ {
		listed[f.Tokens[i]] = float64(f.Logprobs[i])
	}
	return listed
}

// of is the log-probability of a token: at most the least of the list if it is not listed.
func (t nextTokens) of(token string, other float64) float64 {
	if p, ok := t[token]; ok {
		return p
	}
	least := other
	for _, p := range t {
		least = min(least, p)
	}
	return least
}

// within is a tolerance, or more if one of the fingerprints is noisier than that.
func within(tolerance float64, of ...Fingerprint) float64 {
	for _, f := range of {
		tolerance = max(tolerance, noiseFactor*min(f.Noise, EqualWeights))
	}
	return tolerance
}

// Doubted is a doubt with its explanation.
type Doubted struct {
	Doubt   WeightDoubt `json:"doubt" enum:"different,same,changed,unchecked" doc:"different: the policy's addresses have different weights. same: an earlier round's student has the same weights under another version. changed: this version had other weights before. unchecked: an address gave no fingerprint."`
	Text    string      `json:"text" doc:"What was found, with the addresses."`
	Allowed bool        `json:"allowed,omitempty" doc:"Whether the iteration was started or resumed with this doubt allowed."`
}

// WeightOccasion is when weights were checked.
type WeightOccasion string

// The occasions.
const (
	WeightsAtStart   WeightOccasion = "start"   // of an iteration
	WeightsAtResume  WeightOccasion = "resume"  // of a paused iteration
	WeightsInBetween WeightOccasion = "running" // by a worker, while the iteration ran
	WeightsAtLoad    WeightOccasion = "load"    // relabel loaded them
)

// WeightCheck is one check of a policy's weights at all of its addresses.
type WeightCheck struct {
	ID           ID             `json:"id" doc:"Its id."`
	PolicyID     ID             `json:"policy_id" doc:"The policy version."`
	IterationID  *ID            `json:"iteration_id,omitempty" doc:"The iteration; absent if weights were loaded."`
	Occasion     WeightOccasion `json:"occasion" doc:"start or resume of the iteration, running (by a worker), or load (relabel loaded them)."`
	Result       WeightResult   `json:"result" doc:"checked: no doubt. doubted: see doubts. not_checked: no address gives log-probabilities."`
	Distance     *float64       `json:"distance,omitempty" doc:"Largest distance between two addresses, in nats; absent with fewer than two fingerprints, or if their texts differ."`
	Tolerance    float64        `json:"tolerance" doc:"Distance up to which addresses count as equal."`
	Doubts       []Doubted      `json:"doubts,omitempty" doc:"Reasons to doubt the weights; absent: none."`
	Note         string         `json:"note,omitempty" doc:"What else was found."`
	Fingerprints []Fingerprint  `json:"fingerprints" nullable:"false" doc:"The addresses."`
	At           time.Time      `json:"at" doc:"When it was checked."`
}

// WeightResult sums up a check.
type WeightResult string

// The results.
const (
	WeightsChecked    WeightResult = "checked"
	WeightsDoubted    WeightResult = "doubted"
	WeightsNotChecked WeightResult = "not_checked"
)

// Has reports whether the check has a doubt.
func (c WeightCheck) Has(d WeightDoubt) bool {
	return slices.ContainsFunc(c.Doubts, func(of Doubted) bool { return of.Doubt == d })
}

// Taken reports whether an address gave a fingerprint.
func (c WeightCheck) Taken() bool { return slices.ContainsFunc(c.Fingerprints, Fingerprint.Taken) }

// AllowedDoubts are the doubts that were allowed and that last: all but changed weights, which are the weights to
// compare with from then on.
func (c WeightCheck) AllowedDoubts() (allowed []WeightDoubt) {
	for _, d := range c.Doubts {
		if d.Allowed && d.Doubt != WeightsChanged {
			allowed = append(allowed, d.Doubt)
		}
	}
	return allowed
}

// Allow marks the doubts that are allowed, and returns those that are not.
func (c *WeightCheck) Allow(allowed []WeightDoubt) (rest []Doubted) {
	for i, d := range c.Doubts {
		c.Doubts[i].Allowed = slices.Contains(allowed, d.Doubt)
		if !c.Doubts[i].Allowed {
			rest = append(rest, d)
		}
	}
	return rest
}

// RefuseDoubts is the CodeConflict error, on allow_weights, of doubts that are not allowed; nil without any.
func RefuseDoubts(rest []Doubted) error {
	if len(rest) == 0 {
		return nil
	}
	var texts, words []string
	for _, d := range rest {
		texts, words = append(texts, d.Text), append(words, string(d.Doubt))
	}
	return Errorf(CodeConflict, "the student's weights are in doubt: %s. To go on nevertheless, give allow_weights (--allow-weights): %s", strings.Join(texts, "; "), strings.Join(words, ", ")).On("allow_weights")
}

// WeightStore stores checks of weights.
type WeightStore interface {
	// AddWeightCheck stores a check.
	AddWeightCheck(ctx context.Context, c WeightCheck) error
	// ListWeightChecks lists the checks of an iteration, or of a policy version, newest first, at most limit.
	ListWeightChecks(ctx context.Context, f WeightFilter, limit int) ([]WeightCheck, error)
	// ListEarlierWeights lists the last check with a fingerprint of each student of the run's iterations for training, and the last one of
	// the policy in any run, newest first. It leaves iteration except out.
	ListEarlierWeights(ctx context.Context, run, policy ID, except *ID) ([]EarlierWeights, error)
	// ListAddressUsers lists the running iterations whose student or teacher is at one of the addresses, such as "run, collect 2".
	ListAddressUsers(ctx context.Context, bases []string) ([]string, error)
	// ListLoaded returns the names of the adapters that relabel loaded, and whether each is in use: by the newest version of a
	// policy, by a running iteration, or by work that is queued for a policy.
	ListLoaded(ctx context.Context) (map[string]bool, error)
}

// WeightFilter narrows a list of checks to an iteration or a policy version.
type WeightFilter struct {
	IterationID *ID
	PolicyID    *ID
}

// EarlierWeights are the fingerprints of an earlier check.
type EarlierWeights struct {
	PolicyID     ID
	Policy       string // name@version
	Round        string // such as "collect 2"; "" for a check of the policy outside of the run
	Fingerprints []Fingerprint
}

// NoFingerprints are the fingerprints of a policy that cannot be asked, such as one without its secret.
func NoFingerprints(p Policy, err error) (all []Fingerprint) {
	for _, base := range p.BaseURLs() {
		all = append(all, Fingerprint{BaseURL: base, Reason: err.Error(), Able: p.GivesLogprobs()})
	}
	return all
}

// GivesLogprobs reports whether p's kind of server gives log-probabilities, or its requests ask for them.
func (p Policy) GivesLogprobs() bool {
	asked := p.Sampling.Pinned(p.Server).Logprobs
	return p.Server == ServerVLLM || p.Server == ServerSGLang || asked != nil && *asked
}

// UsesStudent reports whether the student executes a turn of a planned trajectory.
func (p PlannedIteration) UsesStudent() bool {
	return slices.ContainsFunc(p.Trajectories, func(tr Trajectory) bool { return strings.Contains(string(tr.Executors), "s") })
}

// Text is the check in a sentence.
func (c WeightCheck) Text() string {
	var parts []string
	for _, d := range c.Doubts {
		text := string(d.Doubt) + ": " + d.Text
		if d.Allowed {
			text = string(d.Doubt) + " (allowed): " + d.Text
		}
		parts = append(parts, text)
	}
	switch {
	case c.Result == WeightsNotChecked && len(c.Fingerprints) > 0:
		parts = append(parts, "not checked: "+c.Fingerprints[0].Reason)
	case c.Result == WeightsNotChecked:
		parts = append(parts, "not checked")
	case c.Distance != nil && !c.Has(WeightsDiffer):
		parts = append(parts, fmt.Sprintf("the same at %d addresses, up to %s", len(c.Fingerprints), nats(*c.Distance)))
	case c.Doubts == nil:
		parts = append(parts, "fingerprint taken")
	}
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	return strings.Join(parts, "; ")
}
