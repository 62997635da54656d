// Package api defines every request and answer of the REST interface once. The tags of a
// field give its documentation (doc), its default, and its bounds (enum, minimum, maximum,
// maxLength, pattern …). The OpenAPI description, the flags of the commands and the forms of
// the pages are generated from them; Fields, Defaults and Validate read them.
//
// A flag is named like the field in JSON. These tags change that for the command line alone:
// arg makes the field an argument, name and help replace the name and the documentation,
// placeholder names the value, negatable adds --no-NAME, embed (with prefix) gives each field of
// a nested object a flag, type:"json" reads the value as JSON (jsonfile: from a file), and
// kong:"-" omits the flag. A single enum without a default has default:"".
package api
