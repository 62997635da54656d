package texttools

import (
	"reflect"
	"strings"
	"testing"

	"relabel"
)

type want struct {
	content string
	calls   []relabel.ToolCall
	form    relabel.CallForm
}

func bash(args string) relabel.ToolCall {
	return relabel.ToolCall{Name: "execute_bash", Arguments: args}
}

func check(t *testing.T, read func(string, []relabel.Tool) Reading, cases map[string]want) {
	t.Helper()
	for text, w := range cases {
		if r := read(text, tools); r.Content != w.content || !reflect.DeepEqual(r.Calls, w.calls) || r.Form != w.form {
			t.Errorf("%q\ngave %+v\nnot  %+v", text, r, w)
		}
	}
}

const lsBlock = "<function=execute_bash>\n<parameter=command>\nls\n</parameter>\n</function>"

func TestCallsAreReadInTheDescribedForm(t *testing.T) {
	check(t, Read, map[string]want{
		"I look.\n\n" + lsBlock: {"I look.", []relabel.ToolCall{bash(`{"command": "ls"}`)}, relabel.FunctionTags},
		lsBlock:                 {"", []relabel.ToolCall{bash(`{"command": "ls"}`)}, relabel.FunctionTags},
		lsBlock + "\n" + lsBlock + "\nEXECUTION RESULT: made up": {"", []relabel.ToolCall{bash(`{"command": "ls"}`), bash(`{"command": "ls"}`)}, relabel.FunctionTags},
		"a\n<tool_call>\n" + lsBlock + "\n</tool_call>":          {"a", []relabel.ToolCall{bash(`{"command": "ls"}`)}, relabel.FunctionTags},
		"<function=execute_bash><parameter=command>ls && echo \"é\"\n\tx</parameter></function>": {"",
			[]relabel.ToolCall{bash(`{"command": "ls && echo \"é\"\n\tx"}`)}, relabel.FunctionTags},
		"<function=edit>\n<parameter=path>\n/a\n</parameter>\n<parameter=line>\n 5 \n</parameter>\n<parameter=range>\n[1, 2.0]\n</parameter>\n<parameter=force>\nyes\n</parameter>\n</function>": {"",
			[]relabel.ToolCall{{Name: "edit", Arguments: `{"path": "/a", "line": 5, "range": [1, 2.0], "force": "yes"}`}}, relabel.FunctionTags},
		"<function=edit>\n<parameter=path>\n5\n</parameter>\n<parameter=text>\nnull\n</parameter>\n</function>": {"",
			[]relabel.ToolCall{{Name: "edit", Arguments: `{"path": "5", "text": "null"}`}}, relabel.FunctionTags},
		"<function=finish>\n</function>": {"", []relabel.ToolCall{{Name: "finish", Arguments: "{}"}}, relabel.FunctionTags},
		"<function=execute_bash>\n<parameter=command>\necho '&lt;/parameter>' '&amp;lt;/function>' '&lt;b>'\n</parameter>\n</function>": {"",
			[]relabel.ToolCall{bash(`{"command": "echo '</parameter>' '&lt;/function>' '&lt;b>'"}`)}, relabel.FunctionTags},
		"<function=execute_bash>\n{\"command\":  \"ls\"}\n</function>": {"", []relabel.ToolCall{bash(`{"command":  "ls"}`)}, relabel.FunctionTags},
		"Only words, and &lt;function=x>.":                             {"Only words, and <function=x>.", nil, ""},
		"":                                                             {"", nil, ""},
	})
}

func TestBrokenCallsKeepTheirText(t *testing.T) {
	check(t, Read, map[string]want{
		"<function=execute_bash>\nls -la\n</function>":                                           {"", []relabel.ToolCall{bash("ls -la")}, relabel.FunctionTags},
		"<function=execute_bash>\n<parameter=command>\nls\n</function>":                          {"", []relabel.ToolCall{bash("<parameter=command>\nls")}, relabel.FunctionTags},
		"<function=execute_bash>\n<parameter=command>\nls\n</parameter>":                         {"", []relabel.ToolCall{bash("<parameter=command>\nls\n</parameter>")}, relabel.FunctionTags},
		"<function=execute_bash>\n<parameter=command>\nls\n</parameter>\nand so on\n</function>": {"", []relabel.ToolCall{bash("<parameter=command>\nls\n</parameter>\nand so on")}, relabel.FunctionTags},
		"<function=execute_bash>\n<parameter=a>\n<parameter=b>\nls\n</parameter>\n</function>":   {"", []relabel.ToolCall{bash("<parameter=a>\n<parameter=b>\nls\n</parameter>")}, relabel.FunctionTags},
		"<function=no_such_tool>\n<parameter=q>\n1\n</parameter>\n</function>":                   {"", []relabel.ToolCall{{Name: "no_such_tool", Arguments: `{"q": "1"}`}}, relabel.FunctionTags},
		"I say <function= and no more":                                                           {"I say <function= and no more", nil, ""},
		"cut in the name <function=execu":                                                        {"cut in the name <function=execu", nil, ""},
	})
}

func TestCallsThatServersLeaveInTheTextAreRecognised(t *testing.T) {
	check(t, Recognise, map[string]want{
		"<tool_call>\n{\"name\": \"execute_bash\", \"arguments\": {\"command\":  \"ls\"}}\n</tool_call>": {"", []relabel.ToolCall{bash(`{"command":  "ls"}`)}, relabel.ToolCallJSON},
		"Two.\n<tool_call>\n{\"name\": \"execute_bash\", \"arguments\": \"{\\\"command\\\": 1}\"}</tool_call><tool_call>{\"name\":\"finish\",\"parameters\":{}}</tool_call>\nbye": {
			"Two.", []relabel.ToolCall{bash(`{"command": 1}`), {Name: "finish", Arguments: "{}"}}, relabel.ToolCallJSON},
		"<tool_call>{\"name\": \"execute_bash\", \"arguments\": {\"command\": }}</tool_call>": {"", []relabel.ToolCall{bash(`{"command": }`)}, relabel.ToolCallJSON},
		"<tool_call>{\"name\": \"execute_bash\", \"args\": {}}</tool_call>":                   {"", []relabel.ToolCall{bash(`, "args": {}}`)}, relabel.ToolCallJSON},
		"<tool_call>{\"name\": \"execute_bash\", \"arguments\": {\"command\": \"l":            {"", []relabel.ToolCall{bash(`{"command": "l`)}, relabel.ToolCallJSON},
		"<tool_call>{\"name\": \"execute_b":                                                   {"<tool_call>{\"name\": \"execute_b", nil, ""},
		"The tag <tool_call> opens and </tool_call> closes.":                                  {"The tag <tool_call> opens and </tool_call> closes.", nil, ""},
		`{"name": "execute_bash", "parameters": {"command": "ls"}}`:                           {"", []relabel.ToolCall{bash(`{"command": "ls"}`)}, relabel.BareJSON},
		"<|python_tag|>{\"type\":\"function\",\"name\":\"execute_bash\",\"parameters\":{}}; {\"name\":\"finish\",\"parameters\":{}}": {
			"", []relabel.ToolCall{bash("{}"), {Name: "finish", Arguments: "{}"}}, relabel.BareJSON},
		`{"name": "execute_bash", "parameters": {"command": "<function=x>"}}`:                                                 {"", []relabel.ToolCall{bash(`{"command": "<function=x>"}`)}, relabel.BareJSON},
		"<tool_call>\n{\"name\": \"execute_bash\", \"arguments\": {\"command\": \"</tool_call><function=x>\"}}\n</tool_call>": {"", []relabel.ToolCall{bash(`{"command": "</tool_call><function=x>"}`)}, relabel.ToolCallJSON},
		`{"name": "Ada", "age": 36}`:                                                               {`{"name": "Ada", "age": 36}`, nil, ""},
		`See {"name": "f", "parameters": {}}`:                                                      {`See {"name": "f", "parameters": {}}`, nil, ""},
		`{"name": "f", "parameters": {}} or so`:                                                    {`{"name": "f", "parameters": {}} or so`, nil, ""},
		"Qwen3.\n\n<tool_call>\n" + lsBlock + "\n</tool_call>":                                     {"Qwen3.", []relabel.ToolCall{bash(`{"command": "ls"}`)}, relabel.FunctionTags},
		"<function=execute_bash>\n<parameter=command>\n&lt;/parameter>\n</parameter>\n</function>": {"", []relabel.ToolCall{bash(`{"command": "&lt;/parameter>"}`)}, relabel.FunctionTags},
	})
}

func TestAStateIsOnlyText(t *testing.T) {
	state := []relabel.Message{
		{Role: "system", Content: "You repair code."}, {Role: "user", Content: "x"},
		{Role: "assistant", Content: "Two.", ReasoningContent: "hm", ToolCalls: []relabel.ToolCall{
			{ID: "call_1_0", Name: "execute_bash", Arguments: `{"command": "ls"}`}, {ID: "call_1_1", Name: "bad name>", Arguments: `{"a":`}}},
		{Role: "tool", ToolCallID: "call_1_0", Content: "a.py"}, {Role: "tool", ToolCallID: "call_1_1", Content: "no such tool"},
		{Role: "assistant", Content: "words"}, {Role: "user", Content: "Call a tool."},
	}
	got := State(state, tools)
	if got[0].Content != "You repair code.\n\n"+Describe(tools) || len(got) != 6 {
		t.Fatalf("%+v", got)
	}
	if want := "Two.\n\n" + lsBlock + "\n<function=bad_name>\n{\"a\":\n</function>"; got[2].Content != want || got[2].ReasoningContent != "hm" || got[2].ToolCalls != nil {
		t.Errorf("%q", got[2].Content)
	}
	if want := "Result of call 1 (execute_bash):\na.py\n\nResult of call 2 (bad name>):\nno such tool"; got[3].Role != "user" || got[3].Content != want {
		t.Errorf("%+v", got[3])
	}
	if !reflect.DeepEqual(got[4:], state[5:]) {
		t.Errorf("%+v", got[4:])
	}
	if got := State(state[1:2], tools); len(got) != 2 || got[0].Role != "system" || got[0].Content != Describe(tools) {
		t.Errorf("%+v", got)
	}
	if got := State(state[:2], nil); !reflect.DeepEqual(got, state[:2]) {
		t.Errorf("%+v", got)
	}
}

func TestToolsAreDescribedInTheSameBytes(t *testing.T) {
	told := Describe(tools)
	for range 20 {
		if Describe(tools) != told {
			t.Fatal("they differ")
		}
	}
	for _, want := range []string{"\n\n## execute_bash\nRun a command.\n" + parametersAre + `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`,
		"<function=TOOL>\n<parameter=NAME>\nvalue\n</parameter>\n</function>"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	if Describe(nil) != "" {
		t.Error("no tools are described")
	}
}

func FuzzReadTakesAnyText(f *testing.F) {
	f.Add(lsBlock)
	f.Add("<tool_call>{\"name\": \"x\", \"arguments\": {}}</tool_call>")
	f.Fuzz(func(_ *testing.T, text string) {
		Read(text, tools)
		Recognise(text, tools)
	})
}
