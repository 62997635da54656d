package show

import (
	"cmp"
	"html/template"
	"path"
	"strings"

	"relabel"
	"relabel/chat"
)

// Call is a tool call laid out as blocks.
type Call struct {
	Name    string
	NameOwn bool // the other action calls another tool here
	Alone   bool // the other action has no call here
	Broken  bool // its arguments are not a JSON object
	Blocks  []block
}

// block is an argument of a call, or an edit that several arguments describe.
type block struct {
	Name  string
	Raw   string    // JSON, which is compared
	Text  string    // the argument's text, except for edits
	Lang  string    // "" if unknown
	Lines []Line    // of an edit
	Edit  [2]string // its texts, before and after
	Spans []Span    // Text with its marks; nil without any
	Own   bool      // the other call lacks an argument of that name
	Cut   fineness  // how finely it was compared
	HTML  template.HTML
}

// Short reports whether the block fits beside its name.
func (b block) Short() bool {
	const short = 80
	return b.Lines == nil && len(b.Text) <= short && !strings.Contains(b.Text, "\n") && b.Lang == ""
}

func layOut(c relabel.ToolCall) Call {
	v := Call{Name: c.Name}
	fields, ok := chat.ReadArguments(c.Arguments)
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
			v.Blocks = append(v.Blocks, block{Name: "edit", Raw: "[" + cmp.Or(raw["old_str"], "null") + "," + raw["new_str"] + "]", Lines: edit, Edit: [2]string{args["old_str"], args["new_str"]}})
		case edit != nil && f.Name == "old_str":
		default:
			v.Blocks = append(v.Blocks, block{Name: f.Name, Raw: string(f.Value), Text: f.Text(), Lang: languageOf(f.Name, args)})
		}
	}
	return v
}

// editOf returns the lines that a call of the file editor changes, nil if it changes none.
func editOf(args map[string]string) []Line {
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

// languages maps file suffixes to languages of highlight.js.
var languages = map[string]string{
	".py": "python", ".sh": "bash", ".js": "javascript", ".ts": "typescript", ".go": "go", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp",
	".java": "java", ".rs": "rust", ".rb": "ruby", ".json": "json", ".toml": "ini", ".cfg": "ini", ".ini": "ini", ".yaml": "yaml", ".yml": "yaml",
	".md": "markdown", ".html": "xml", ".xml": "xml", ".css": "css", ".sql": "sql", ".diff": "diff", ".patch": "diff",
}

// languageOf guesses the language of an argument, "" if unknown.
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
