package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"relabel"
)

// checkRecipeFields checks the fields that say how weights follow from scores and rewards.
func (c *check) checkRecipeFields() {
	m := &c.manifest
	if has := m.WeightSpan == relabel.SpanToken || m.WeightSpan == relabel.SpanTurn; has != (m.Recipe == relabel.OPD) {
		c.complain("weight_span is %q: it must be token or turn if and only if the recipe is opd", m.WeightSpan)
	}
	if (m.Advantage != nil) != (m.Recipe == relabel.GRPO) {
		c.complain("advantage must be present if and only if the recipe is grpo")
		return
	}
	if m.Advantage == nil {
		return
	}
	for group, rewards := range m.Advantage.Rewards {
		if len(rewards) < 2 || slices.Min(rewards) == slices.Max(rewards) {
			c.complain("the group %q has the rewards %v: groups with rows have two members or more and different rewards", group, rewards)
		}
	}
}

// ownAction checks a span whose label is the student's own action: its ids, its group and
// reward, and the values behind its weights.
func (f *fileCheck) ownAction(row *relabel.ExportRow, s *relabel.ExportSpan) {
	if !f.manifest.Recipe.OnPolicy() {
		return
	}
	name := labelName(s)
	if s.IDs != "served" {
		f.reject(row, "spans", "the span of %s has ids %q: the student's own actions have the ids that its server returned", name, s.IDs)
	}
	if !strings.HasPrefix(s.Group, fmt.Sprintf("%d/", s.Iteration)) {
		f.reject(row, "spans", "the span of %s has the group %q, which does not belong to its iteration %d", name, s.Group, s.Iteration)
	}
	if s.Reward != nil && !(*s.Reward >= 0 && *s.Reward <= 1) {
		f.reject(row, "spans", "the span of %s has the reward %v, expected 0 to 1", name, *s.Reward)
	}
	switch f.manifest.Recipe {
	case relabel.OPD:
		f.logRatios(row, s)
	case relabel.GRPO:
		f.advantages(row, s)
	}
}

// logRatios checks that the weights are log πe − log πθ, of each token or summed over the turn.
func (f *fileCheck) logRatios(row *relabel.ExportRow, s *relabel.ExportSpan) {
	teacher, student := row.TeacherLogprobs[s.Start:s.End()], row.StudentLogprobs[s.Start:s.End()]
	want, sum := make([]float64, s.Length), 0.0
	for i := range want {
		if teacher[i] > 0 || student[i] > 0 {
			f.reject(row, "signals", "token %d has the log-probabilities %v and %v: neither can be positive", s.Start+i, teacher[i], student[i])
			return
		}
		want[i] = float64(teacher[i]) - float64(student[i])
		sum += want[i]
	}
	for i := range want {
		if f.manifest.WeightSpan == relabel.SpanTurn {
			want[i] = sum
		}
	}
	f.weightsAre(row, s, want)
}

// advantages checks that the advantages follow from the rewards of the group, and the weights
// from them.
func (f *fileCheck) advantages(row *relabel.ExportRow, s *relabel.ExportSpan) {
	if f.manifest.Advantage == nil {
		return // reported already
	}
	name, rewards := labelName(s), f.manifest.Advantage.Rewards[s.Group]
	own := slices.IndexFunc(rewards, func(r float64) bool { return s.Reward != nil && float32(r) == *s.Reward })
	if own < 0 {
		f.reject(row, "signals", "the span of %s has the reward %s; its group %s has the rewards %v", name, shown(s.Reward), s.Group, rewards)
		return
	}
	want := f.advantage(rewards[own], rewards) // in double precision: rewards may be close together
	for q := s.Start; q < s.End(); q++ {
		if !agrees(row.Advantages[q], want) {
			f.reject(row, "signals", "token %d of %s has the advantage %v; the rewards of its group %v give %v", q, name, row.Advantages[q], rewards, want)
			return
		}
	}
	f.weightsAre(row, s, slices.Repeat([]float64{want}, s.Length))
}

// advantage computes (R − mean) ÷ (std + ε).
func (f *fileCheck) advantage(reward float64, rewards []float64) float64 {
	sum := 0.0
	for _, r := range rewards {
		sum += r
	}
	mean, squares := sum/float64(len(rewards)), 0.0
	for _, r := range rewards {
		squares += math.Pow(r-mean, 2)
	}
	std := math.Sqrt(squares / float64(len(rewards)-f.manifest.Advantage.DDoF))
	return (reward - mean) / (std + f.manifest.Advantage.Epsilon)
}

// weightsAre checks the weights of a span's tokens, given those before normalisation.
func (f *fileCheck) weightsAre(row *relabel.ExportRow, s *relabel.ExportSpan, want []float64) {
	share := 1.0
	if n := f.manifest.Normalisation; n != nil && *n == relabel.PerTransition {
		share = float64(s.Length)
	}
	for i, w := range want {
		if got := row.Weights[s.Start+i]; !agrees(got, w/share) {
			f.reject(row, "weights", "token %d of %s has the weight %v; %s gives %v", s.Start+i, labelName(s), got, f.manifest.Recipe, w/share)
			return
		}
	}
}

// agrees reports whether a stored number is the computed one, up to single precision.
func agrees(got float32, want float64) bool {
	return math.Abs(float64(got)-want) <= 1e-6*max(1, math.Abs(want))
}
