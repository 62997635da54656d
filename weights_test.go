package relabel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"relabel"
)

// fingerprint is one of two texts whose log-probabilities are moved by shift.
func fingerprint(base string, shift float32) relabel.Fingerprint {
	f := relabel.Fingerprint{BaseURL: base, Version: 1, Method: "completions", Able: true}
	for text := range 2 {
		f.Texts = append(f.Texts, 5)
		for i := range 5 {
			f.Tokens = append(f.Tokens, fmt.Sprint(100*text+i))
			f.Logprobs = append(f.Logprobs, -float32(i)-shift)
		}
	}
	return f
}

func TestTheDistanceOfFingerprintsIsTheMeanDifferenceOfATokensLogprobs(t *testing.T) {
	a, b := fingerprint("a", 0), fingerprint("b", 0.5)
	if d := a.Distance(b); math.Abs(d-0.5) > 1e-6 {
		t.Errorf("distance %v", d)
	}
	// The last token of each text is another one: it counts as the least probable of the other list.
	b = fingerprint("b", 0)
	b.Tokens[4], b.Logprobs[4] = "9", -4
	if d := a.Distance(b); d != 0 {
		t.Errorf("distance %v of lists that end with equally probable tokens", d)
	}
	b.Logprobs[4] = -3.5
	if d := a.Distance(b); math.Abs(d-0.5/11) > 1e-6 { // 0.5 for the new token, of 11; the other may be as improbable as it is
		t.Errorf("distance %v", d)
	}
	b.Version = 2
	if d := a.Distance(b); !math.IsInf(d, 1) {
		t.Errorf("distance %v of other texts", d)
	}
}

func TestWeightsAreDoubtedByWhatIsKnown(t *testing.T) {
	policy := relabel.Policy{ID: relabel.NewID()}
	other, own := relabel.NewID(), policy.ID
	earlier := func(id relabel.ID, round string, shifts ...float32) relabel.EarlierWeights {
		e := relabel.EarlierWeights{PolicyID: id, Policy: "student@1", Round: round}
		for i, shift := range shifts {
			e.Fingerprints = append(e.Fingerprints, fingerprint(string(rune('a'+i)), shift))
		}
		return e
	}
	now := func(shifts ...float32) (all []relabel.Fingerprint) {
		return earlier(own, "", shifts...).Fingerprints
	}
	noisy := now(0, 0.05)
	noisy[0].Noise = 0.02
	for name, c := range map[string]struct {
		now     []relabel.Fingerprint
		earlier []relabel.EarlierWeights
		measure bool
		want    relabel.WeightDoubt
		says    string
	}{
		"nothing earlier":                   {now(0, 0), nil, false, "", "the same at 2 addresses, up to 0.0000 nats"},
		"replicas on other hardware":        {now(0, 0.01), nil, false, "", "more than their own noise"},
		"replicas that differ":              {now(0, 0.05), nil, false, relabel.WeightsDiffer, "b (0.0500 nats)"},
		"replicas that are noisy":           {noisy, nil, false, "", "the same"},
		"the last round's weights":          {now(0, 0), []relabel.EarlierWeights{earlier(other, "collect 1", 0, 0)}, false, relabel.WeightsSame, "student@1 in collect 1"},
		"little training":                   {now(0.004, 0.004), []relabel.EarlierWeights{earlier(other, "collect 1", 0, 0)}, false, "", ""},
		"one replica that was not reloaded": {now(0.01, 0), []relabel.EarlierWeights{earlier(other, "collect 1", 0, 0)}, false, relabel.WeightsDiffer, "b still has the weights of student@1 in collect 1"},
		"an evaluation of another version":  {now(0, 0), []relabel.EarlierWeights{earlier(other, "collect 1", 0, 0)}, true, "", ""},
		"the same version again":            {now(0, 0), []relabel.EarlierWeights{earlier(own, "collect 1", 0, 0)}, false, "", ""},
		"the same version, changed":         {now(0.1, 0.1), []relabel.EarlierWeights{earlier(own, "collect 1", 0, 0)}, false, relabel.WeightsChanged, "register a new checkpoint"},
		"changed, in an evaluation":         {now(0.1, 0.1), []relabel.EarlierWeights{earlier(own, "", 0, 0)}, true, relabel.WeightsChanged, "had other weights before:"},
		"new addresses":                     {now(0), []relabel.EarlierWeights{{PolicyID: other, Policy: "s@1", Round: "collect 1", Fingerprints: []relabel.Fingerprint{fingerprint("z", 0)}}}, false, relabel.WeightsSame, "s@1"},
		"a silent replica":                  {append(now(0), relabel.Fingerprint{BaseURL: "b", Able: true, Reason: "connection refused"}), nil, false, relabel.WeightsUnchecked, "b: connection refused"},
		"a server without log-probs":        {[]relabel.Fingerprint{{BaseURL: "a", Reason: "not requested"}}, nil, false, "", "not checked: not requested"},
	} {
		t.Run(name, func(t *testing.T) {
			check := relabel.JudgeWeights(policy, c.now, c.earlier, !c.measure)
			if (c.want == "") != (len(check.Doubts) == 0) || c.want != "" && (len(check.Doubts) != 1 || !check.Has(c.want)) || !strings.Contains(check.Text(), c.says) {
				t.Errorf("%+v: %s", check.Doubts, check.Text())
			}
			rest := check.Allow(nil)
			if err := relabel.RefuseDoubts(rest); (relabel.CodeOf(err) == relabel.CodeConflict) != (c.want != "") {
				t.Errorf("refused with %v", err)
			}
			if rest := check.Allow([]relabel.WeightDoubt{c.want}); rest != nil {
				t.Errorf("allowed, but %v", rest)
			}
		})
	}
}
