package shard

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/arrow"
	"relabel/shard/outfile"
)

// alteration changes the first line of a file of chat that it applies to; "" if it applies to none.
type alteration struct {
	name    string
	dialect string // the dialect that it is for; "" for all
	change  func(line string) string
}

// once replaces the first match of a pattern.
func once(pattern, by string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(line string) string {
		at := re.FindStringIndex(line)
		if at == nil {
			return line
		}
		return line[:at[0]] + re.ReplaceAllString(line[at[0]:at[1]], by) + line[at[1]:]
	}
}

var lineAlterations = []alteration{
	{"a field of another dialect", "", once(`\{"role":"`, `{"train":false,"role":"`)},
	{"a line that is cut", "", func(line string) string { return line[:len(line)/2] }},
	{"a line twice", "", func(line string) string { return line + "\n" + line }},
	{"no line", "", func(string) string { return "" }},
	{"another word in the state", "flat", once(`You repair`, `You break`)},
	{"another word in the state", "weight", once(`You repair`, `You break`)},
	{"another word in the label", "flat", once(`"role":"assistant","content":"`, `"role":"assistant","content":"No: `)},
	{"the history trained on", "weight", once(`"weight":0`, `"weight":1`)},
	{"a label not trained on", "weight", once(`"weight":1`, `"weight":0`)},
	{"other tools", "flat", once(`Run <it>`, `Run it`)},
	{"a later turn's name", "flat", once(`^\{"row_id":"([^/]*)/\d+"`, `{"row_id":"$1/99"`)},
	{"another id", "loss", once(`"token_ids":\[(\d+),(\d+)`, `"token_ids":[$1,7`)},
	{"another weight", "loss", once(`,1\.0`, `,0.5`)},
	{"a token more", "loss", once(`,0\.0,1\.0`, `,1.0,1.0`)},
	{"another role", "loss", once(`"assistant"`, `"user"`)},
}

func TestACheckFindsAlteredLines(t *testing.T) {
	folder, student := testStudent(t)
	for _, name := range []string{"nemo-rl", "ms-swift", "openai"} {
		form := relabel.ExportForm{For: name, Views: []relabel.View{relabel.ViewMessages}}
		if name != "openai" {
			form.Views = append(form.Views, relabel.ViewLinear)
		}
		dir, s := exportFor(t, form, folder, 3), student
		if name == "openai" {
			s = nil
		}
		own := string(readManifest(t, dir).For.Dialect)
		for _, a := range lineAlterations {
			if a.dialect != "" && a.dialect != own {
				continue
			}
			t.Run(own+": "+a.name, func(t *testing.T) {
				copied := copyOf(t, dir)
				alterLine(t, copied, a.change)
				if r := check(t, copied, s); r.Sound() {
					t.Errorf("a check finds nothing: %s", r.Figure())
				}
			})
		}
	}
}

// copyOf copies an export's folder.
func copyOf(t *testing.T, dir string) string {
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// alterLine changes a line of chat, and the figures and the hash of its file.
func alterLine(t *testing.T, dir string, change func(string) string) {
	m := readManifest(t, dir)
	for i := range m.Files {
		f := &m.Files[i]
		if f.View != relabel.ViewChat || f.Rows == 0 {
			continue
		}
		name := filepath.Join(dir, f.Path)
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
		for k, line := range lines {
			altered := change(line)
			if altered == line {
				continue
			}
			if lines[k] = altered; altered == "" {
				lines = append(lines[:k], lines[k+1:]...)
			}
			text := strings.Join(lines, "\n") + "\n"
			if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
				t.Fatal(err)
			}
			f.Rows = strings.Count(text, "\n")
			setFile(t, dir, f)
			writeJSON(t, filepath.Join(dir, manifestName), m)
			return
		}
	}
	t.Fatal("no line was altered")
}

// setFile gives an entry of the manifest the length and the hash of its file.
func setFile(t *testing.T, dir string, f *relabel.ManifestFile) {
	d, err := describeFile(filepath.Join(dir, f.Path), f.Path)
	if err != nil {
		t.Fatal(err)
	}
	f.Bytes, f.SHA256 = d.Bytes, d.SHA256
}

// TestACheckFindsAlteredArrowRows changes one value of a row at a time.
func TestACheckFindsAlteredArrowRows(t *testing.T) {
	folder, student := testStudent(t)
	dir := exportFor(t, relabel.ExportForm{For: "llama-factory", Views: []relabel.View{relabel.ViewMessages}}, folder, 3)
	for name, change := range map[string]func(*arrow.Row){
		"an id":    func(r *arrow.Row) { r.InputIDs[2] = 7 },
		"a label":  func(r *arrow.Row) { r.Labels[len(r.Labels)-1] = relabel.Unsupervised },
		"the mask": func(r *arrow.Row) { r.AttentionMask[1] = 0 },
		"history":  func(r *arrow.Row) { r.Labels[2] = r.InputIDs[2] },
		"a length": func(r *arrow.Row) { r.Labels = r.Labels[1:] },
	} {
		copied := copyOf(t, dir)
		m := readManifest(t, copied)
		for i := range m.Files {
			if f := &m.Files[i]; f.View == relabel.ViewArrow && f.Rows > 0 {
				alterArrow(t, copied, f, change)
				break
			}
		}
		writeJSON(t, filepath.Join(copied, manifestName), m)
		if r := check(t, copied, student); r.Sound() {
			t.Errorf("%s: a check finds nothing: %s", name, r.Figure())
		}
	}
}

// alterArrow changes the first row of a file and writes it again.
func alterArrow(t *testing.T, dir string, f *relabel.ManifestFile, change func(*arrow.Row)) {
	name := filepath.Join(dir, f.Path)
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := arrow.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	w := arrow.NewWriter(to, "arrow", 0, 1)
	f.Tokens, f.SupervisedTokens = 0, 0
	for i := range f.Rows {
		row, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			change(&row)
		}
		for _, label := range row.Labels {
			if label != relabel.Unsupervised {
				f.SupervisedTokens++
			}
		}
		f.Tokens += len(row.InputIDs)
		if err := w.Write(row, outfile.Size{}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.Close()
	if err == nil {
		err = os.Rename(filepath.Join(to, files[0].Path), name)
	}
	if err != nil {
		t.Fatal(err)
	}
	setFile(t, dir, f)
}

// TestACheckFindsAlteredFilesOfATrainer: its configuration, and its absence.
func TestACheckFindsAlteredFilesOfATrainer(t *testing.T) {
	folder, _ := testStudent(t)
	dir := exportFor(t, relabel.ExportForm{For: "axolotl"}, folder, 3)
	for what, alter := range map[string]func(string) error{
		"has the SHA-256": func(name string) error { return os.WriteFile(name, []byte("train_on_inputs: true\n"), 0o640) },
		"cannot be read":  os.Remove,
	} {
		copied := copyOf(t, dir)
		if err := alter(filepath.Join(copied, "axolotl.yaml")); err != nil {
			t.Fatal(err)
		}
		r := check(t, copied, nil)
		if text := fmt.Sprint(r.Problems); r.Counts["trainer"] != 1 || !strings.Contains(text, what) {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// TestARowOfAPromptCompletionIsCheckedAgainstItsRendering changes texts of both dialects.
func TestARowOfAPromptCompletionIsCheckedAgainstItsRendering(t *testing.T) {
	folder, student := testStudent(t)
	for name, change := range map[string]func(t *testing.T, dir string, f *relabel.ManifestFile, m relabel.Manifest){
		"openrlhf": func(t *testing.T, dir string, f *relabel.ManifestFile, m relabel.Manifest) {
			rows := readRows[renderedRow](t, filepath.Join(dir, f.Path))
			rows[0].Prompt = strings.Replace(rows[0].Prompt, "repair", "break", 1)
			writeRows(t, dir, f, m.Recipe, rows)
		},
		"trl": func(t *testing.T, dir string, f *relabel.ManifestFile, m relabel.Manifest) {
			rows := readRows[promptCompletionRow](t, filepath.Join(dir, f.Path))
			rows[0].Prompt[0] = strings.Replace(rows[0].Prompt[0], "repair", "break", 1)
			writeRows(t, dir, f, m.Recipe, rows)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := exportFor(t, relabel.ExportForm{For: name, Views: []relabel.View{relabel.ViewPromptCompletion, relabel.ViewMessages}}, folder, 3)
			m := readManifest(t, dir)
			for i := range m.Files {
				if f := &m.Files[i]; f.View == relabel.ViewPromptCompletion && f.Rows > 0 {
					change(t, dir, f, m)
					break
				}
			}
			writeJSON(t, filepath.Join(dir, manifestName), m)
			if r := check(t, dir, student); r.Counts["views"] == 0 {
				t.Errorf("a check finds %v: %s", r.Problems, r.Figure())
			}
		})
	}
}

// TestAnAlteredRowOfMessagesIsFound: prompts, names and variables that a trainer would read otherwise.
func TestAnAlteredRowOfMessagesIsFound(t *testing.T) {
	folder, student := testStudent(t)
	whole := exportFor(t, relabel.ExportForm{For: "trl", Views: []relabel.View{relabel.ViewPromptCompletion}}, folder, 3)
	for name, change := range map[string]func(row *promptCompletionRow){
		"variables": func(row *promptCompletionRow) { row.Variables = `{"enable_thinking":false}` },
		"name":      func(row *promptCompletionRow) { row.RowID += "1" },
		"no system": func(row *promptCompletionRow) { row.Prompt = row.Prompt[1:] },
		"no label":  func(row *promptCompletionRow) { row.Completion = row.Prompt[1:2] },
		"two":       func(row *promptCompletionRow) { row.Completion = append(row.Completion, row.Completion[0]) },
	} {
		dir := copyOf(t, whole)
		m := readManifest(t, dir)
		f := &m.Files[slices.IndexFunc(m.Files, func(f relabel.ManifestFile) bool { return f.Rows > 0 })]
		rows := readRows[promptCompletionRow](t, filepath.Join(dir, f.Path))
		change(&rows[0])
		writeRows(t, dir, f, m.Recipe, rows)
		writeJSON(t, filepath.Join(dir, manifestName), m)
		if r := check(t, dir, student); r.Counts["text"] == 0 {
			t.Errorf("%s: a check finds %v", name, r.Problems)
		}
	}
}
