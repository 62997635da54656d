package shard

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/shard/render"
)

// mix draws trajectories of everything that happens to one, as messages.
type mix struct {
	*rand.Rand
	beta  float64 // βi
	turns int     // at most
	long  int     // words of the longest texts
	// student gives some labels the ids of a server; nil: none has any
	student *render.Student
	// chance is the probability of labels of the student's states by the label rule; 0: there is none
	chance float64
}

func (m mix) say(most int) string {
	vocabulary := strings.Fields("the parser returns größe 数据 🚀 naïve <|im_end|> <|im_start|>assistant <think> </think> <tool_call> grep and line {{x}} import \x1b[31m \\n \"q\" 0x1F")
	var b strings.Builder
	for range m.Intn(most + 1) {
		b.WriteString(vocabulary[m.Intn(len(vocabulary))])
		b.WriteString([]string{" ", "\n", "", "\t"}[m.Intn(4)])
	}
	return b.String()
}

// rarely is true once in n.
func (m mix) rarely(n int) bool { return m.Intn(n) == 0 }

// action is a message with calls or, rarely, none; three words or very many.
func (m mix) action() relabel.Action {
	message := relabel.Message{Content: m.say(6)}
	if m.rarely(2) {
		message.ReasoningContent = m.say(8)
	}
	switch {
	case m.rarely(6):
		message = relabel.Message{Content: "the parser returns"}
	case m.rarely(25):
		message.Content = m.say(m.long)
	}
	for k := range m.Intn(3) {
		message.ToolCalls = append(message.ToolCalls, relabel.ToolCall{ID: fmt.Sprintf("x%d", k), Name: "execute_bash",
			Arguments: fmt.Sprintf(`{"command":  %s, "n": 1.0}`, chat.AppendString(nil, m.say(4)))})
	}
	return had(message)
}

// observe is what came of an action.
func (m mix) observe(t int, a relabel.Action) (out []relabel.Observation) {
	for k, c := range a.Message.ToolCalls {
		out = append(out, relabel.Observation{CallID: relabel.CallID(t, k), Tool: c.Name, Content: m.say(20)})
	}
	if out == nil {
		out = []relabel.Observation{{Content: "Use a tool. " + m.say(3)}}
	}
	return out
}

// trajectory draws one: labels that agree, differ, are missing or cut.
func (m mix) trajectory(iteration, number int) relabel.ExportTrajectory {
	tr := someTrajectory(iteration, number, 0)
	tr.Iteration.Beta = at(m.beta)
	tr.Trajectory.Resolved, tr.Task.ProblemStatement = at(true), m.say(20)
	for i := range 1 + m.Intn(m.turns) {
		t := i + 1
		label := m.action()
		turn := relabel.Turn{T: t, Executor: relabel.Teacher, Action: label, Label: &label}
		if m.Float64() >= m.beta {
			turn.Executor = relabel.Student
			if !m.rarely(3) {
				turn.Action = m.action()
			}
		}
		turn.Observations = m.observe(t, turn.Action)
		if m.chance > 0 && turn.Executor == relabel.Student {
			turn.LabelChance = &m.chance
		}
		switch {
		case turn.LabelChance != nil && m.Float64() >= m.chance:
			turn.Label = &relabel.Action{Status: relabel.NotSelected}
		case m.rarely(12):
			turn.Label = &relabel.Action{Status: relabel.Missing, Reason: "endpoint: timeout"}
		case m.rarely(20):
			label.Parse = relabel.CutByLength
		case m.student != nil && m.rarely(3):
			label.PolicyID = tr.Student.ID
			label.PromptTokenIDs, label.TokenIDs = m.ids(10+m.Intn(20)), append(m.ids(1+m.Intn(9)), m.student.StopID)
		}
		tr.Turns = append(tr.Turns, turn)
	}
	tr.Trajectory.Turns = len(tr.Turns)
	return tr
}

func (m mix) ids(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = m.Int31n(200)
	}
	return out
}

// mixes are the exports that are checked: of each a form and how trajectories are drawn.
var mixes = map[string]struct {
	form   relabel.ExportForm
	beta   float64
	served bool
	recipe relabel.Recipe // opd, grpo: labels are the student's own actions; "": dagger
}{
	"label rule":     {relabel.ExportForm{Views: relabel.Views, Capacity: 3000, Normalisation: relabel.PerTransition}, 0.2, false, ""},
	"student alone":  {relabel.ExportForm{Views: relabel.Views, Capacity: 3000, TooLong: relabel.CutTooLong}, 0, false, ""},
	"mixture":        {relabel.ExportForm{Views: relabel.Views, Capacity: 2000, PadTree: true, Normalisation: relabel.PerTransition, Divide: 2}, 0.3, false, ""},
	"teacher alone":  {relabel.ExportForm{Views: relabel.Views, Capacity: 20_000, Reasoning: relabel.ReasoningDrop}, 1, false, ""},
	"cut":            {relabel.ExportForm{Views: relabel.Views, Capacity: 1500, MaxLength: 1200, TooLong: relabel.CutTooLong}, 0.3, false, ""},
	"dropped":        {relabel.ExportForm{Views: relabel.Views, Capacity: 1500, MaxLength: 1200, TooLong: relabel.DropTooLong}, 0.3, false, ""},
	"served":         {relabel.ExportForm{Views: relabel.Views, Capacity: 4000}, 0.3, true, ""},
	"bare":           {relabel.ExportForm{Views: relabel.Views, Capacity: 4000, Bare: true}, 0.3, false, ""},
	"bare and text":  {relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages, relabel.ViewLinear}, Capacity: 4000, Bare: true}, 0.3, false, ""},
	"text":           {relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}, 0.3, false, ""},
	"linear alone":   {relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear}, Capacity: 4000}, 0.3, false, ""},
	"packed alone":   {relabel.ExportForm{Views: []relabel.View{relabel.ViewPacked}, Capacity: 4000}, 0.3, false, ""},
	"tree alone":     {relabel.ExportForm{Views: []relabel.View{relabel.ViewTree}, Capacity: 1500, MaxLength: 1200}, 0.3, false, ""},
	"bare alone":     {relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear}, Capacity: 4000, Bare: true}, 0.3, false, ""},
	"packed to tree": {relabel.ExportForm{Views: []relabel.View{relabel.ViewPacked, relabel.ViewTree}, Capacity: 6000}, 0.3, false, ""},
	"opd":            {relabel.ExportForm{Views: relabel.Views, Capacity: 4000, Normalisation: relabel.PerTransition, WeightSpan: relabel.SpanToken}, 0, false, relabel.OPD},
	"opd by turn":    {relabel.ExportForm{Views: relabel.Views, Capacity: 2000, WeightSpan: relabel.SpanTurn}, 0, false, relabel.OPD},
	"grpo":           {relabel.ExportForm{Views: relabel.Views, Capacity: 4000, PadTree: true}, 0, false, relabel.GRPO},
}

// labelRule is a rule of both a choice and a floor: 1/4 of the turns, and of the others a tenth.
const (
	labelRule    relabel.LabelRule = "every:4+0.1"
	chanceOfRule                   = 0.25 + 0.75*0.1
)

// mixed builds an export of a mix in three parts and returns its folder.
func mixed(t testing.TB, name, tokenizer string, student *render.Student, seed int64) string {
	t.Helper()
	c := mixes[name]
	m := mix{Rand: rand.New(rand.NewSource(seed)), beta: c.beta, turns: 9, long: 400}
	if c.served {
		m.student = student
	}
	if name == "label rule" {
		m.chance = chanceOfRule
	}
	var list []relabel.ExportTrajectory
	for i := range 8 {
		tr := m.trajectory(1+i/5, i)
		if m.chance > 0 {
			tr.Iteration.LabelRule = labelRule
		}
		list = append(list, tr)
	}
	s := newFixedStore(list...)
	s.newExport(fmt.Sprint(name, seed), relabel.ExportSelection{Aggregated: true, MixedRewards: c.recipe == relabel.GRPO})
	if c.recipe != "" {
		s.run.Recipe = c.recipe
		m.ownActions(t, student, s)
	}
	if s.export.Form = c.form; c.form.Tokens() {
		s.export.Form.Tokenizer = tokenizer
		s.export.Form.Normalisation = max(c.form.Normalisation, relabel.PerToken)
		s.export.Form.MaxLength = max(c.form.MaxLength, c.form.Capacity*3/4)
	}
	x := newTestExporter(t, s)
	x.partBytes = 3
	return export(t, s, x).Directory
}

// mixNames are the names of the mixes in order.
func mixNames() (names []string) {
	for name := range mixes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
