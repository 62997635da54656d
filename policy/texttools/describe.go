// Package texttools has tool calls as plain text, for endpoints without tool calling: it describes the
// tools in the system prompt, writes the calls of a history as text, and reads the calls of an answer. It
// also recognises calls that servers left unparsed. Both give the same canonical messages.
//
// The form is one that models know from training:
//
//	<function=NAME>
//	<parameter=NAME>
//	value
//	</parameter>
//	</function>
//
// Arguments that this form cannot represent exactly (broken JSON, other spacing) are in the block
// unchanged. In values and text, the "<" of one of these tags is "&lt;" (escape), so that text never
// becomes a call.
package texttools

import (
	"bytes"
	"encoding/json"
	"strings"

	"relabel"
)

// heading is the start of the text of Describe.
const heading = "# Tools\n\nThis conversation has no other way to call a tool than the text of your answers."

const howTo = heading + ` Write a call in exactly this form:

<function=TOOL>
<parameter=NAME>
value
</parameter>
</function>

- Say what you want to say first, then write the call. Several calls in one answer are run in their order.
- A value is everything between the line of its opening tag and the line of its closing tag, as it is: no quotes around it, no escapes in it. A value that is a number, true or false, a list or an object is written as JSON.
- Give all required parameters. A tool without parameters is called with nothing between its two tags.
- Where a value or your own words have to contain one of these tags, write &lt; for the < of it, as in &lt;/parameter>.
- What a call gave comes back in the next user message, under a line that names the call.

These are the tools:`

// parametersAre precedes a tool's schema.
const parametersAre = "Parameters as JSON Schema: "

// Describe is a text for models about tool calls in text and the parameters of each tool. The same tools
// give the same bytes. Without tools it is "".
func Describe(tools []relabel.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(howTo)
	for _, t := range tools {
		b.WriteString("\n\n## " + t.Name + "\n" + strings.TrimSpace(t.Description) + "\n" + parametersAre + oneLine(t.Parameters))
	}
	return b.String()
}

// oneLine is a schema without the white space between its tokens, its keys in order.
func oneLine(schema string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(schema)) != nil {
		return "{}"
	}
	return b.String()
}

// types are the parameters of each tool whose values are JSON rather than text.
type types map[string]map[string]bool

// typesOf reads types from the tools' schemas. Parameters without a schema are text.
func typesOf(tools []relabel.Tool) types {
	all := types{}
	for _, t := range tools {
		var schema struct {
			Properties map[string]struct {
				Type  json.RawMessage `json:"type"`
				AnyOf json.RawMessage `json:"anyOf"`
			} `json:"properties"`
		}
		if json.Unmarshal([]byte(t.Parameters), &schema) != nil {
			continue
		}
		all[t.Name] = map[string]bool{}
		for name, p := range schema.Properties {
			if p.Type != nil || p.AnyOf != nil {
				all[t.Name][name] = !bytes.Contains(append(p.Type, p.AnyOf...), []byte(`"string"`))
			}
		}
	}
	return all
}
