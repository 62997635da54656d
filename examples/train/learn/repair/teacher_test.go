package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"relabel"
)

// episode is a conversation in a simulated sandbox.
type episode struct {
	box   *simulated
	state []relabel.Message
	turns int
}

func begin(t Task) *episode {
	return &episode{box: newSimulated(t), state: []relabel.Message{{Role: relabel.RoleUser, Content: t.Issue}}}
}

func (e *episode) do(c relabel.ToolCall) (finished bool) {
	e.turns++
	c.ID = relabel.CallID(e.turns, 0)
	observation, finished := e.box.run(c)
	e.state = append(e.state, relabel.Message{Role: relabel.RoleAssistant, ToolCalls: []relabel.ToolCall{c}},
		relabel.Message{Role: relabel.RoleTool, ToolCallID: c.ID, Content: observation})
	return finished
}

// teach lets the teacher act until it finishes, at most 30 turns, and returns their number.
func (e *episode) teach(t *testing.T) (turns int) {
	t.Helper()
	for turns = 1; turns <= 30; turns++ {
		call, ok := Teach(e.state)
		if !ok {
			t.Fatalf("no issue: %q", e.state[0].Content)
		}
		if e.do(call) {
			return turns
		}
	}
	return turns
}

func TestTheTeacherSolvesEachTaskOnTheShortestWay(t *testing.T) {
	for i := range 300 {
		task := Draw(fmt.Sprint(i), i%2 == 1)
		e := begin(task)
		// grep, cat for each function, edit, check, finish; the import names the next file.
		if turns := e.teach(t); turns != len(task.Chain)+4 || e.box.check() != allPassed {
			t.Fatalf("%s: %d turns for %d functions, then %s", task.ID, turns, len(task.Chain), e.box.check())
		}
		for _, m := range e.state {
			if strings.Contains(m.Content, "FAIL") {
				t.Fatalf("%s: the teacher alone saw a failed check", task.ID)
			}
		}
	}
}

// junk is an action that a bad student could take.
func junk(d *dice, task Task) relabel.ToolCall {
	name := d.pick(append(slices.Sorted(maps.Keys(task.Files)), d.pick(files)+".py"))
	function := task.Checks[d.below(len(task.Checks))].Function
	a, b := d.pick(operators), d.pick(operators)
	return []relabel.ToolCall{
		bash("cat " + name), bash("python3 check.py"), bash("git checkout " + name), bash("git checkout ."),
		bash("grep -n 'def " + function + "' *.py"), bash("grep -n 'def " + function[:3] + "' *.py"), bash("ls -"),
		edit(name, "a "+a+" b", "a "+b+" b"), edit(name, "a "+a+" b", "a "+b+" c"), edit(name, "a "+a+" b", "a "+b),
		edit(name, "return ", "retur "), edit(name, "def "+function+"(a, b)", "def "+function+"x(a, b)"), edit(name, "a", "b"),
		{Name: toolBash, Arguments: "[]"}, {Name: toolBash, Arguments: `{"command": `}, {Name: "exec", Arguments: "null"},
	}[d.below(16)]
}

func TestTheTeacherRepairsWhateverTheStudentDid(t *testing.T) {
	longest := 0
	for i := range 1500 {
		task := Draw(fmt.Sprint(i), false)
		e, d := begin(task), &dice{seed: fmt.Sprint("junk ", i)}
		for range d.below(11) {
			e.do(junk(d, task))
		}
		turns := e.teach(t)
		if turns > 30 || e.box.check() != allPassed {
			t.Fatalf("%s is not repaired after %d turns: %s\n%+v", task.ID, turns, e.box.check(), e.state)
		}
		longest = max(longest, turns)
	}
	t.Logf("at most %d turns", longest)
}

func TestAnotherProblemIsRefused(t *testing.T) {
	if call, ok := Teach([]relabel.Message{{Role: relabel.RoleUser, Content: "It breaks."}}); ok {
		t.Errorf("%+v", call)
	}
}
