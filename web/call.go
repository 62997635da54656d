package web

import (
	"html/template"
	"path"
	"strings"

	"relabel"
)

// callView is a call laid out for reading.
type callView struct {
	Name    string
	NameOwn bool // the other action calls another tool here
	Alone   bool // the other action has no call here
	Broken  bool // its arguments are no JSON object
	Blocks  []block
}

// block is a part of a call: an argument, or an edit that several arguments say.
type block struct {
	Name  string
	Raw   string     // what makes it the same as another: JSON
	Text  string     // the argument's text, of all but edits
	Lang  string     // what it is written in, "" where that is not known
	Lines []textLine // of an edit
	Edit  [2]string  // its texts, before and after
	Spans []span     // Text with its marks; nil without any
	Own   bool       // the other call lacks an argument of that name
	Cut   fineness   // how finely it was compared
	HTML  template.HTML
}

// Short reports whether the block stands beside its name, not below it.
func (b block) Short() bool {
	const short = 80
	return b.Lines == nil && len(b.Text) <= short && !strings.Contains(b.Text, "\n") && b.Lang == ""
}

// layOut lays a call out.
func layOut(c relabel.ToolCall) callView {
	v := callView{Name: c.Name}
	fields, ok := relabel.ReadArguments(c.Arguments)
	if !ok {
		v.Broken = true
		v.Blocks = []block{{Name: "arguments", Raw: c.Arguments, Text: c.Arguments}}
		return v
	}
	args, raw := map[string]string{}, map[string]string{}
	for _, f := range fields {
		args[f.Name], raw[f.Name] = f.Text(), string(f.Value)
	}
	edit := editOf(args)
	for _, f := range fields {
		switch {
		case edit != nil && f.Name == "new_str":
			v.Blocks = append(v.Blocks, block{Name: "edit", Raw: "[" + or(raw["old_str"], "null") + "," + raw["new_str"] + "]", Lines: edit, Edit: [2]string{args["old_str"], args["new_str"]}})
		case edit != nil && f.Name == "old_str":
		default:
			v.Blocks = append(v.Blocks, block{Name: f.Name, Raw: string(f.Value), Text: f.Text(), Lang: languageOf(f.Name, args)})
		}
	}
	return v
}

// editOf is what a call of the file editor does to the file's lines, nil for one that
// does nothing of the kind.
func editOf(args map[string]string) []textLine {
	after, edits := args["new_str"]
	before, replaces := args["old_str"]
	switch {
	case !edits, args["command"] == "view", args["command"] == "create":
		return nil
	case args["command"] == "insert" && !replaces, replaces:
		return editLines(before, after)
	}
	return nil
}

// languages are what files of a suffix are written in, as highlight.js names it.
var languages = map[string]string{
	".py": "python", ".sh": "bash", ".js": "javascript", ".ts": "typescript", ".go": "go", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp",
	".java": "java", ".rs": "rust", ".rb": "ruby", ".json": "json", ".toml": "ini", ".cfg": "ini", ".ini": "ini", ".yaml": "yaml", ".yml": "yaml",
	".md": "markdown", ".html": "xml", ".xml": "xml", ".css": "css", ".sql": "sql", ".diff": "diff", ".patch": "diff",
}

// languageOf guesses what an argument is written in.
func languageOf(name string, args map[string]string) string {
	switch name {
	case "command":
		if _, of := args["path"]; !of {
			return "bash"
		}
	case "file_text":
		return languages[strings.ToLower(path.Ext(args["path"]))]
	}
	return ""
}
