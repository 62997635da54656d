package scripted

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
)

// gitCase is a gold patch with something awkward about it.
type gitCase struct {
	base, gold map[string]*string
	options    []string // of git diff
}

func cases() map[string]gitCase {
	plain := map[string]*string{
		"pkg/core.py":  text("import os\n\n\ndef frobnicate(items):\n    out = []\n" + lines("    # step %d", 1, 30) + "    return out[:-1]\n" + lines("x%d = 1", 1, 40)),
		"pkg/other.py": text(lines("y%d = 2", 1, 20)),
		"README.md":    text("A frobnicator.\n"),
	}
	with := func(changes map[string]*string) map[string]*string {
		m := maps.Clone(plain)
		maps.Copy(m, changes)
		return m
	}
	edited := strings.NewReplacer("import os\n", "import os\nimport sys\n", "return out[:-1]", "return out", "x20 = 1\n", "", "x39 = 1", "x39 = 'é🙂'\t").Replace(*plain["pkg/core.py"])
	other := strings.Replace(*plain["pkg/other.py"], "y1 = 2\n", "y1 = 3\n", 1)
	twice := lines("same%d", 1, 9)
	return map[string]gitCase{
		"one hunk":         {plain, map[string]*string{"pkg/other.py": &other}, nil},
		"many hunks":       {plain, map[string]*string{"pkg/core.py": &edited, "pkg/other.py": &other}, []string{"--binary"}},
		"no index line":    {plain, map[string]*string{"pkg/core.py": &edited}, nil},
		"diff -u":          {plain, map[string]*string{"pkg/core.py": &edited, "pkg/other.py": &other}, nil},
		"new file":         {plain, map[string]*string{"pkg/new.py": text("a = 1\n"), "pkg/other.py": &other}, nil},
		"new, without end": {plain, map[string]*string{"deep/er/new.py": text("a = 1")}, nil},
		"empty new file":   {plain, map[string]*string{"pkg/__init__.py": text("")}, nil},
		"deletion":         {plain, map[string]*string{"pkg/other.py": nil, "pkg/core.py": &edited}, nil},
		"rename":           {plain, map[string]*string{"pkg/other.py": nil, "pkg/moved.py": plain["pkg/other.py"]}, nil},
		"rename and edit":  {plain, map[string]*string{"pkg/other.py": nil, "pkg/moved.py": &other}, nil},
		"CRLF":             {with(map[string]*string{"dos.py": text(strings.ReplaceAll(lines("d%d", 1, 20), "\n", "\r\n"))}), map[string]*string{"dos.py": text(strings.ReplaceAll(lines("d%d", 2, 20), "\n", "\r\n"))}, nil},
		"no last line end": {with(map[string]*string{"end.py": text("a\nb\nc")}), map[string]*string{"end.py": text("a\nb\nd")}, nil},
		"end of line lost": {with(map[string]*string{"end.py": text("a\nb\n")}), map[string]*string{"end.py": text("a\nb")}, nil},
		"repeated text":    {with(map[string]*string{"twice.py": text(twice + twice)}), map[string]*string{"twice.py": text(twice + strings.Replace(twice, "same5", "other5", 1))}, nil},
		"found elsewhere":  {with(map[string]*string{"end.py": text("return a\na\na\na\n")}), map[string]*string{"end.py": text("return a\na\na\na\nreturn a\n")}, []string{"-U3"}},
		"appended":         {plain, map[string]*string{"README.md": text("A frobnicator.\nIt frobs.\n")}, nil},
		"from empty":       {with(map[string]*string{"void.py": text("")}), map[string]*string{"void.py": text("a\n")}, nil},
		"broken UTF-8":     {with(map[string]*string{"latin.py": text("a\xe9\nb\n")}), map[string]*string{"latin.py": text("a\xe9\nc\n")}, nil},
		"binary":           {with(map[string]*string{"data.bin": text("\x00\x01")}), map[string]*string{"data.bin": text("\x00\x02\x03")}, []string{"--binary"}},
		"odd names":        {with(map[string]*string{"a b's.py": text("a\n")}), map[string]*string{"a b's.py": text("b\n")}, nil},
		"names in UTF-8":   {with(map[string]*string{"é/ü.py": text("a\n")}), map[string]*string{"é/ü.py": text("b\n"), "é/neu ñ.py": text("b\n")}, nil},
		"too long to show": {plain, map[string]*string{"pkg/table.py": text(lines("row_%d = 'some long enough text to fill the output of a command'", 1, 900))}, nil},
		"shell marks":      {plain, map[string]*string{"PATCH.py": text("PATCH\n$HOME `id` \\\n'\"\n"), "pkg/other.py": text(*plain["pkg/other.py"] + "PATCH\n")}, nil},
	}
}

func (c gitCase) build(t *testing.T, name string) (*repository, *Server) {
	r := newRepository(t, t.TempDir(), c.base, c.gold, c.options...)
	if name == "no index line" {
		r.task.Patch = indexLineOf.ReplaceAllString(r.task.Patch, "")
	}
	if name == "diff -u" {
		r.task.Patch = gitHeadOf.ReplaceAllString(r.task.Patch, "")
	}
	return r, NewServer(Config{Book: NewBook([]relabel.Task{{ProblemStatement: "frobnicator", Patch: "diff --git a/x b/x\n"}, r.task})})
}

func TestTheTeacherAloneReachesTheGoldTree(t *testing.T) {
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := c.build(t, name)
			for seed := range int64(2) {
				state, finished := r.rollout(s, seed, 30, func(int) string { return TeacherModel })
				if got := r.tree(); !finished || got != r.gold {
					t.Fatalf("finished %v, tree %s, want %s\n%s\n%s", finished, got, r.gold, r.git("diff"), transcript(state))
				}
				ambiguous := name == "found elsewhere" || name == "repeated text"
				said := func(thought string) bool { return strings.Contains(transcript(state), thought) }
				if reset := slices.ContainsFunc(thoughts["reset"], said); reset != ambiguous {
					t.Errorf("reset the tree: %v\n%s", reset, transcript(state))
				}
				if turns := actions(state); turns < 4 || turns > 20 {
					t.Errorf("%d turns\n%s", turns, transcript(state))
				}
				r.git("reset", "-q", "--hard")
				r.git("clean", "-fdq")
			}
		})
	}
}

func actions(state []relabel.Message) (n int) {
	for _, m := range state {
		if m.Role == relabel.RoleAssistant {
			n++
		}
	}
	return n
}

// TestTheTeacherRepairsAStudentsMistakes: a student acts for k turns, or in some turns, and the teacher
// otherwise. Unless the student stopped early, the tree must end with the gold patch.
func TestTheTeacherRepairsAStudentsMistakes(t *testing.T) {
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := c.build(t, name)
			for seed := range int64(6) {
				student := StudentPrefix + []string{"0", "0.3", "0.7"}[seed%3]
				prefix := 1 + int(seed*11)%25
				by := func(turn int) string {
					if seed%2 == 0 && turn <= prefix || seed%2 == 1 && turn < 40 && turn%3 != 0 {
						return student
					}
					return TeacherModel
				}
				state, finished := r.rollout(s, seed, 80, by)
				early := finished && by(actions(state)) != TeacherModel
				if got := r.tree(); !early && (!finished || got != r.gold) {
					t.Fatalf("seed %d: finished %v, tree %s, want %s\n%s\n%s", seed, finished, got, r.gold, r.git("diff"), transcript(state))
				}
				r.git("reset", "-q", "--hard")
				r.git("clean", "-fdq")
			}
		})
	}
}

func TestAnyMixtureThatTheTeacherEndsIsResolved(t *testing.T) {
	home := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(home, "")
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer os.RemoveAll(dir)
		base, gold := drawEdits(t)
		r := newRepository(t, dir, base, gold)
		if r.task.Patch == "" {
			t.Skip("nothing changes")
		}
		s := NewServer(Config{Book: NewBook([]relabel.Task{r.task})})
		by := rapid.SliceOfN(rapid.SampledFrom([]string{TeacherModel, StudentPrefix + "0", StudentPrefix + "0.5"}), 0, 20).Draw(t, "executors")
		who := func(turn int) string {
			if turn <= len(by) {
				return by[turn-1]
			}
			return TeacherModel
		}
		state, finished := r.rollout(s, rapid.Int64().Draw(t, "seed"), len(by)+40, who)
		if finished && who(actions(state)) != TeacherModel {
			return
		}
		if got := r.tree(); !finished || got != r.gold {
			t.Fatalf("finished %v, tree %s, want %s\n%s\n%s", finished, got, r.gold, r.git("diff"), transcript(state))
		}
	})
}

// drawEdits draws files of few distinct lines, so that text repeats, and edits of them.
func drawEdits(t *rapid.T) (base, gold map[string]*string) {
	base, gold = map[string]*string{}, map[string]*string{}
	line := rapid.SampledFrom([]string{"a", "b", "  a", "", "c\t", "return a"})
	for i := range rapid.IntRange(1, 3).Draw(t, "files") {
		name := "f" + strconv.Itoa(i) + ".py"
		old := rapid.SliceOfN(line, 0, 30).Draw(t, "lines")
		var now []string
		for _, l := range old {
			switch rapid.IntRange(0, 9).Draw(t, "edit") {
			case 0:
			case 1:
				now = append(now, l, line.Draw(t, "more"))
			case 2:
				now = append(now, line.Draw(t, "other"))
			default:
				now = append(now, l)
			}
		}
		base[name] = text(strings.Join(old, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "old end"))
		gold[name] = text(strings.Join(now, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "new end"))
	}
	base["keep.py"] = text("keep = 1\n")
	return base, gold
}

func TestTheTeacherLabelsEveryStateOfAStudent(t *testing.T) {
	r, s := cases()["many hunks"].build(t, "")
	state, _ := r.rollout(s, 5, 25, func(int) string { return StudentPrefix + "0.3" })
	for i, m := range state {
		if m.Role != relabel.RoleAssistant {
			continue
		}
		label := r.ask(s, TeacherModel, 5, state[:i])
		if len(label.ToolCalls) == 0 || label.Content == "" {
			t.Errorf("the label at message %d has no call or no thought: %+v", i, label)
		}
	}
}

func TestAStudentOfSkillOneActsAsTheTeacherDoes(t *testing.T) {
	r, s := cases()["many hunks"].build(t, "")
	state, finished := r.rollout(s, 1, 30, func(int) string { return StudentPrefix + "1" })
	if !finished || r.tree() != r.gold {
		t.Fatal(transcript(state))
	}
}

func TestStudentsMakeEveryKindOfMistake(t *testing.T) {
	r, s := cases()["many hunks"].build(t, "")
	seen := map[string]bool{}
	for seed := range int64(40) {
		state, finished := r.rollout(s, seed, 8, func(int) string { return StudentPrefix + "0" })
		if finished {
			seen["early"] = true
		}
		for _, m := range state[2:] {
			switch {
			case m.Role != relabel.RoleAssistant && strings.Contains(m.Content, "cannot be used"):
				seen["broken arguments"] = true
			case m.Role != relabel.RoleAssistant && strings.Contains(m.Content, "no tool"):
				seen["unknown tool"] = true
			case m.Role == relabel.RoleAssistant && len(m.ToolCalls) == 0:
				seen["no call"] = true
			}
		}
		if r.tree() != r.git("rev-parse", "HEAD^{tree}")[:40] {
			seen["wrong edit"] = true
		}
		r.git("reset", "-q", "--hard")
		r.git("clean", "-fdq")
	}
	for _, kind := range []string{"early", "broken arguments", "unknown tool", "no call", "wrong edit"} {
		if !seen[kind] {
			t.Errorf("no student showed: %s", kind)
		}
	}
}

func TestABetterStudentResolvesMore(t *testing.T) {
	r, s := cases()["one hunk"].build(t, "")
	rate := func(skill string) (n int) {
		for seed := range int64(15) {
			if _, finished := r.rollout(s, seed, 30, func(int) string { return StudentPrefix + skill }); finished && r.tree() == r.gold {
				n++
			}
			r.git("reset", "-q", "--hard")
			r.git("clean", "-fdq")
		}
		return n
	}
	low, high := rate("0"), rate("0.95")
	// What tests print tells the time, so no two runs draw quite the same.
	if low > 3 || high < 8 {
		t.Errorf("skill 0 resolves %d of 15, skill 0.95 %d", low, high)
	}
}

var (
	indexLineOf = regexp.MustCompile(`(?m)^index .*\n`)
	gitHeadOf   = regexp.MustCompile(`(?m)^(index|diff) .*\n`)
)
