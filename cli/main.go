package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"relabel"
	"relabel/tasks"
)

// Main runs the command of this process's arguments and returns its exit code: 0, 1 for an error,
// 2 for a wrong command line, 130 after a signal.
func Main(ctx context.Context, commands any, version string, serve ServeLocal, ports *Ports) (code int) {
	parser, err := NewParser(commands, version, DefaultDataFolder(), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(serve, ports))
	if err != nil { // a bug in the commands
		panic(err)
	}
	k, err := parser.Parse(os.Args[1:])
	if err != nil {
		command := "relabel"
		var parse *kong.ParseError
		if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
			command = parse.Context.Selected().FullPath()
		}
		message := strings.Replace(err.Error(), `,"" but got`, " but got", 1) // the value of an absent flag
		message = strings.TrimPrefix(message, strings.TrimPrefix(command, "relabel ")+": ")
		fmt.Fprintf(os.Stderr, "relabel: %s; `%s --help` says more\n", message, command)
		return 2
	}
	err = k.Run()
	if err == nil {
		return 0
	}
	message := nameFlags(k.Selected(), Message(err))
	fmt.Fprintln(os.Stderr, "relabel: "+message)
	switch {
	case errors.Is(err, context.Canceled):
		return 130
	case relabel.CodeOf(err) == relabel.CodeInvalid && (strings.HasPrefix(message, "--") || strings.HasPrefix(message, "<")):
		return 2
	}
	return 1
}

// leadingField matches the field of a request at the beginning of an error's line.
var leadingField = regexp.MustCompile(`(?m)^( *)([a-z][a-z0-9_.]*)(\[\d+\])?(?:\.([a-z_]+))?: `)

// fileField matches a field below a field of a request, which may have been read from a file.
var fileField = regexp.MustCompile(`(?m)^( *)([a-z_]+)((?:\.[a-z_]+|\[\d+\])*): `)

// nameFlags replaces the fields of requests in an error by the flags and arguments of the command
// that set them.
func nameFlags(command *kong.Node, message string) string {
	message = fileField.ReplaceAllStringFunc(message, func(line string) string {
		match := fileField.FindStringSubmatch(line)
		if place := placeInFile(command, match[2], strings.TrimPrefix(match[3], ".")); place != "" {
			return match[1] + place + ": "
		}
		return line
	})
	return leadingField.ReplaceAllStringFunc(message, func(line string) string {
		match := leadingField.FindStringSubmatch(line)
		if tasks.HasRows(match[2]) { // a file such as data.jsonl
			return line
		}
		tail := ""
		if match[4] != "" {
			if name := flagOf(command, []string{match[4]}); name != "" { // one flag sets it in all items of the list
				return match[1] + name + ": "
			}
			tail = match[4] + ": "
		}
		parts := strings.Split(match[2], ".")
		for i := range slices.Backward(parts) {
			if name := flagOf(command, parts[:i+1]); name != "" {
				return match[1] + strings.Join(append([]string{name}, parts[i+1:]...), ": ") + match[3] + ": " + tail
			}
		}
		return line
	})
}

// flagOf returns the flag or argument of a command that sets the field with a path, "" if there is none.
func flagOf(command *kong.Node, path []string) string {
	last, whole := path[len(path)-1], strings.ReplaceAll(strings.Join(path, "-"), "_", "-")
	sets := func(v *kong.Value) bool {
		field, _, _ := strings.Cut(cmp.Or(v.Tag.Get("json"), v.Tag.Get("query")), ",")
		return v.Name == whole || field == last
	}
	for _, f := range command.Flags {
		if sets(f.Value) {
			return "--" + f.Name
		}
	}
	for _, v := range command.Positional {
		if sets(v) {
			return "<" + v.Name + ">"
		}
	}
	return ""
}

// OnFlag adds the flag to an error about its value.
func OnFlag(err error, flag string) error {
	var wrong *relabel.Error
	if errors.As(err, &wrong) {
		return wrong.On(flag)
	}
	return err
}

// NewParser returns a parser of commands with the variables in their tags.
func NewParser(commands any, version, data string, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(commands, append(options, kong.Name("relabel"),
		kong.Description("DAgger data for LLM agents: a teacher's action at every state that a teacher/student mixture visits."),
		kong.Vars{"version": version, "data": data}, RequestFlags())...)
}
