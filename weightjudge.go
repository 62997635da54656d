package relabel

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// JudgeWeights compares the fingerprints of a policy's addresses with each other and with earlier ones, and
// lists the doubts. Rounds compare students of a round for training with those of other rounds; without it only the
// policy's own earlier fingerprints count.
func JudgeWeights(policy Policy, now []Fingerprint, earlier []EarlierWeights, rounds bool) WeightCheck {
	c := WeightCheck{PolicyID: policy.ID, Fingerprints: now, Tolerance: within(EqualWeights, now...)}
	var taken []Fingerprint
	var silent []string
	able := false
	for _, f := range now {
		able = able || f.Able
		switch {
		case f.Taken():
			taken = append(taken, f)
		case f.Able:
			silent = append(silent, f.BaseURL+": "+f.Reason)
		}
	}
	if silent != nil {
		c.doubt(WeightsUnchecked, "no fingerprint of %s", strings.Join(silent, "; "))
	}
	if len(taken) > 0 {
		c.compareTakes(taken)
		c.compareAddresses(taken)
		c.compareEarlier(policy, taken, earlier, rounds)
	}
	switch {
	case c.Doubts != nil:
		c.Result = WeightsDoubted
	case able:
		c.Result = WeightsChecked
	default:
		c.Result = WeightsNotChecked
	}
	return c
}

func (c *WeightCheck) doubt(d WeightDoubt, format string, args ...any) {
	c.Doubts = append(c.Doubts, Doubted{Doubt: d, Text: fmt.Sprintf(format, args...)})
}

// compareTakes finds addresses that answer with other weights from one request to the next, as a load balancer in
// front of unequal servers does.
func (c *WeightCheck) compareTakes(taken []Fingerprint) {
	for _, f := range taken {
		if f.Noise > EqualWeights {
			c.doubt(WeightsDiffer, "%s answers with different weights from one request to the next: distance of %s", f.BaseURL, nats(f.Noise))
		}
	}
}

// compareAddresses compares each address with the first one.
func (c *WeightCheck) compareAddresses(taken []Fingerprint) {
	if len(taken) < 2 {
		return
	}
	worst := 0.0
	var far []string
	for _, f := range taken[1:] {
		d := taken[0].Distance(f)
		worst = max(worst, d)
		if d > c.Tolerance {
			far = append(far, fmt.Sprintf("%s (%s)", f.BaseURL, nats(d)))
		}
	}
	if !math.IsInf(worst, 0) {
		c.Distance = &worst
	}
	switch {
	case far != nil:
		c.doubt(WeightsDiffer, "%s and %s have different weights: distance over the tolerance of %s", taken[0].BaseURL, strings.Join(far, ", "), nats(c.Tolerance))
	case worst > within(SameServer, taken...):
		c.Note = fmt.Sprintf("the addresses differ by %s, more than their own noise: other hardware or other precision gives this, and so does very little training", nats(worst))
	}
}

// compareEarlier finds students of other versions whose weights some of the addresses have, and other weights of
// the same version.
func (c *WeightCheck) compareEarlier(policy Policy, taken []Fingerprint, earlier []EarlierWeights, rounds bool) {
	for _, e := range earlier {
		switch {
		case e.PolicyID == policy.ID && !c.Has(WeightsChanged):
			c.compareOwn(taken, e)
		case e.PolicyID != policy.ID && rounds && e.Round != "":
			c.compareOther(taken, e)
		}
	}
}

// compareOwn finds addresses that had other weights under the same version.
func (c *WeightCheck) compareOwn(taken []Fingerprint, e EarlierWeights) {
	var changed []string
	for _, f := range taken {
		if d := nearest(f, e.Fingerprints); d > within(c.Tolerance, e.Fingerprints...) && !math.IsInf(d, 0) {
			changed = append(changed, fmt.Sprintf("%s (%s)", f.BaseURL, nats(d)))
		}
	}
	if changed != nil {
		c.doubt(WeightsChanged, "%s had other weights before%s: distance of %s; register a new checkpoint as a new version of the policy", e.Policy, in(e.Round), strings.Join(changed, ", "))
	}
}

// compareOther finds addresses with the weights of another version.
func (c *WeightCheck) compareOther(taken []Fingerprint, e EarlierWeights) {
	var same []string
	for _, f := range taken {
		if nearest(f, e.Fingerprints) <= sameTolerance(f, e.Fingerprints) {
			same = append(same, f.BaseURL)
		}
	}
	switch {
	case same == nil:
	case len(same) == len(taken):
		if !c.Has(WeightsSame) {
			c.doubt(WeightsSame, "they equal those of %s%s: the server may not have loaded the new checkpoint", e.Policy, in(e.Round))
		}
	case !c.Has(WeightsDiffer):
		c.doubt(WeightsDiffer, "%s still has the weights of %s%s", strings.Join(same, ", "), e.Policy, in(e.Round))
	}
}

// nearest is the distance to the earlier fingerprint of the same address, or else to the nearest one.
func nearest(f Fingerprint, earlier []Fingerprint) float64 {
	if i := slices.IndexFunc(earlier, func(e Fingerprint) bool { return e.BaseURL == f.BaseURL && e.Taken() }); i >= 0 {
		return f.Distance(earlier[i])
	}
	d := math.Inf(1)
	for _, e := range earlier {
		d = min(d, f.Distance(e))
	}
	return d
}

// sameTolerance bounds the distance of equal weights to the nearest earlier fingerprint.
func sameTolerance(f Fingerprint, earlier []Fingerprint) float64 {
	return within(SameServer, append([]Fingerprint{f}, earlier...)...)
}

func in(round string) string {
	if round == "" {
		return ""
	}
	return " in " + round
}

func nats(d float64) string {
	if math.IsInf(d, 0) {
		return "other tokens"
	}
	return fmt.Sprintf("%.4f nats", d)
}
