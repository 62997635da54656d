package tree

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"relabel"
)

// conversation makes turns by a plain template: header 100 101, the action, then 200 and
// an observation. Its answers are (10t, 9), its other actions (10t+1, 9).
type conversation struct {
	Trajectory
	state []int32
}

func converse() *conversation {
	return &conversation{Trajectory: Trajectory{Origin: Origin{Trajectory: "a", Iteration: 2}}, state: []int32{1, 2, 3}}
}

// turn adds a labelled turn in which the ids given were executed.
func (c *conversation) turn(byTeacher bool, executed ...int32) *Turn {
	t := int32(len(c.Turns) + 1)
	c.Turns = append(c.Turns, Turn{T: int(t), State: c.state, Prompt: slices.Concat(c.state, []int32{100, 101}), Answer: []int32{10 * t, stopID}, Labelled: true, Executed: byTeacher, Weight: 1})
	c.state = slices.Concat(c.state, []int32{100, 101}, executed, []int32{200, 50 + t})
	return &c.Turns[len(c.Turns)-1]
}

// shape writes trees down: ids of the trunk, then each span and leaf as turn@start or turn@branch.
func shape(roots []*Root) string {
	var out string
	for _, r := range roots {
		out += fmt.Sprint(r.trunk)
		for _, s := range r.spans {
			out += fmt.Sprintf(" %d@%d", s.Turn, s.Start)
		}
		for _, l := range r.leaves {
			out += fmt.Sprintf(" %d@%d%v", l.span.Turn, l.at, l.ids)
		}
		out += "\n"
	}
	return out
}

func TestLabelsStandInTheTrunkWhereTheyWereExecutedElseInLeaves(t *testing.T) {
	cases := []struct {
		name string
		talk func(c *conversation)
		want string
	}{
		{"the teacher's label is in the trunk, whose unlabelled end goes", func(c *conversation) {
			c.turn(true, 10, stopID)
		}, "[1 2 3 100 101 10 9] 1@5\n"},
		{"a student's action that equals the label bears no leaf", func(c *conversation) {
			c.turn(false, 10, stopID)
			c.turn(false, 21, stopID)
		}, "[1 2 3 100 101 10 9 200 51] 1@5 2@9[100 101 20 9]\n"},
		{"a teacher's turn that history renders otherwise bears a leaf", func(c *conversation) {
			c.turn(true, 77, 10, stopID)
			c.turn(true, 77, 20, stopID)
		}, "[1 2 3 100 101 77 10 9 200 51 100 101 20 9] 2@12 1@3[100 101 10 9]\n"},
		{"a missing label is not supervised and the trunk goes on", func(c *conversation) {
			*c.turn(true, 10, stopID) = Turn{T: 1, State: c.Turns[0].State}
			c.turn(true, 20, stopID)
		}, "[1 2 3 100 101 10 9 200 51 100 101 20 9] 2@11\n"},
		{"a trajectory without a label has no tree", func(c *conversation) {
			*c.turn(true, 10, stopID) = Turn{T: 1, State: c.Turns[0].State}
		}, ""},
		{"rewritten history begins a new root", func(c *conversation) {
			c.turn(true, 10, stopID)
			c.turn(false, 21, stopID)
			c.state = append([]int32{4}, c.state...)
			c.turn(true, 30, stopID)
		}, "[1 2 3 100 101 10 9 200 51] 1@5 2@9[100 101 20 9]\n[4 1 2 3 100 101 10 9 200 51 100 101 21 9 200 52 100 101 30 9] 3@18\n"},
		{"a prompt that does not begin with its state has a root of its own", func(c *conversation) {
			c.turn(false, 11, stopID).Prompt = []int32{1, 2, 8, 100, 101}
			c.turn(false, 21, stopID)
		}, "[1 2 3 100 101 11 9 200 51] 2@9[100 101 20 9]\n[1 2 8 100 101 10 9] 1@5\n"},
		{"a served prompt that strays alone leaves the trunk whole", func(c *conversation) {
			c.turn(false, 10, stopID)
			stray := c.turn(false, 20, stopID)
			stray.State, stray.Prompt, stray.Served = []int32{1, 2, 8}, []int32{1, 2, 8, 100, 101}, true
			c.turn(true, 30, stopID)
		}, "[1 2 3 100 101 10 9 200 51 100 101 20 9 200 52 100 101 30 9] 1@5 3@17\n[1 2 8 100 101 20 9] 2@5\n"},
		{"a template without a header gives each disagreeing label its own root", func(c *conversation) {
			turn := c.turn(false, 11, stopID)
			turn.Prompt = turn.State
		}, "[1 2 3 10 9] 1@3\n"},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			c := converse()
			k.talk(c)
			if got := shape(build(t, c.Trajectory, PerToken)); got != k.want {
				t.Errorf("got\n%swant\n%s", got, k.want)
			}
		})
	}
}

func TestAForestIsDrawnInPreorderWithItsMask(t *testing.T) {
	c := converse()
	c.turn(false, 11, stopID)
	c.turn(true, 20, stopID)
	var f Forest
	f.Add(build(t, c.Trajectory, PerToken)[0])
	f.Pad(18, 0)
	want := Forest{
		IDs:        []int32{1, 2, 3, 100, 101, 10, 9, 100, 101, 11, 9, 200, 51, 100, 101, 20, 9, 0},
		Positions:  []int32{0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0},
		SubtreeEnd: []int32{17, 17, 17, 7, 7, 7, 7, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 18},
		NodeStart:  []int32{0, 3, 7, 17}, NodeParent: []int32{-1, 0, 0, -1}, NodeKind: []Kind{Trunk, Leaf, Trunk, Padding},
	}
	spans := fmt.Sprint(f.Spans[0].Turn, f.Spans[0].Kind, f.Spans[0].Start, f.Spans[0].Length(), f.Spans[1].Turn, f.Spans[1].Kind, f.Spans[1].Start, f.Spans[1].Length())
	if spans != "1 leaf 5 2 2 trunk 15 2" {
		t.Errorf("spans %s", spans)
	}
	f.Spans = nil
	if fmt.Sprint(f) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", f, want)
	}
}

func TestWeightsAreNormalised(t *testing.T) {
	for _, c := range []struct {
		n       Normalisation
		w       float32
		byToken []float32
		want    string
	}{
		{PerToken, 0.5, nil, "[0.5 0.5 0.5 0.5]"},
		{PerTransition, 1, nil, "[0.25 0.25 0.25 0.25]"},
		{PerToken, 9, []float32{0, -1, 2, 0.1}, "[0 -1 2 0.1]"},
		{PerTransition, 9, []float32{0, -1, 2, 4}, "[0 -0.25 0.5 1]"},
		{PerToken, float32(math.Copysign(0, -1)), nil, "[0 0 0 0]"},
	} {
		got, err := c.n.Weights(c.w, c.byToken, 4)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s of %v, %v: %v, %v; want %s", c.n, c.w, c.byToken, got, err, c.want)
		}
	}
}

func TestDataThatCannotBeTrainedOnIsRefused(t *testing.T) {
	nan := float32(math.NaN())
	for name, spoil := range map[string]func(*Turn){
		"no token":                 func(t *Turn) { t.Answer = nil },
		"no prompt":                func(t *Turn) { t.Prompt = nil },
		"too few weights":          func(t *Turn) { t.Weights = []float32{1} },
		"a weight that is none":    func(t *Turn) { t.Weights = []float32{1, nan} },
		"a weight for all is none": func(t *Turn) { t.Weight = nan },
	} {
		c := converse()
		spoil(c.turn(false, 11, stopID))
		if _, err := Build(c.Trajectory, PerToken); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Build(Trajectory{Turns: converse().Turns}, ""); err != nil {
		t.Errorf("no turns: %v", err)
	}
	c := converse()
	c.turn(false, 11, stopID)
	if _, err := Build(c.Trajectory, "mixed"); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("an unknown normalisation: %v", err)
	}
}

func TestModelsWithRecurrentStateAreRefused(t *testing.T) {
	for config, want := range map[string]bool{
		`{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "layer_types": ["full_attention"]}`: true,
		`{"model_type": "gemma3_text", "layer_types": ["sliding_attention", "full_attention"]}`:             true,
		`{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}`:                                    true,
		`{"model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"]}`:                           false,
		`{"model_type": "qwen3_5_text"}`:                                                                    false,
		`{"model_type": "new", "layer_types": ["linear_attention", "full_attention"]}`:                      false,
		`{"model_type": "mamba2"}`: false,
		`{"model_type": "vl", "text_config": {"model_type": "x", "layers_block_type": ["mamba", "attention"]}}`: false,
		`{"model_type": "lfm2", "layer_types": ["conv", "full_attention"]}`:                                     false,
		`{"model_type": "jamba", "architectures": ["JambaForCausalLM"]}`:                                        false,
		`not json`: false,
	} {
		if err := CheckModel([]byte(config)); (err == nil) != want {
			t.Errorf("%s: %v", config, err)
		}
	}
}

func TestAdvantageEqualsAHandComputation(t *testing.T) {
	eight := []float64{0, 0, 0, 0, 0, 0, 1, 1} // mean 1/4, Σ (R − mean)² = 3/2, std √(3/14)
	for reward, want := range map[float64]float64{1: 0.75 / (0.46291004988627573 + 1e-6), 0: -0.25 / (0.46291004988627573 + 1e-6)} {
		if got := Advantage(reward, eight); math.Abs(got-want) > 1e-12 {
			t.Errorf("reward %v has the advantage %v, want %v", reward, got, want)
		}
	}
}

func TestLogRatiosAreOfATokenOrSummedOverTheTurn(t *testing.T) {
	teacher, student := []float32{-0.5, -3, -1}, []float32{-1, -1, -1}
	if got := LogRatios(teacher, student, false); !slices.Equal(got, []float32{0.5, -2, 0}) {
		t.Errorf("by token: %v", got)
	}
	if got := LogRatios(teacher, student, true); !slices.Equal(got, []float32{-1.5, -1.5, -1.5}) {
		t.Errorf("by turn: %v", got)
	}
}
