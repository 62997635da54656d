package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
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
		fmt.Fprintf(os.Stderr, "relabel: %s; `%s --help` says more\n", message, command)
		return 2
	}
	err = k.Run()
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "relabel: "+Message(err))
	if errors.Is(err, context.Canceled) {
		return 130
	}
	return 1
}

// NewParser returns a parser of commands with the variables in their tags.
func NewParser(commands any, version, data string, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(commands, append(options, kong.Name("relabel"),
		kong.Description("DAgger data for LLM agents: a teacher's action at every state that a teacher/student mixture visits."),
		kong.Vars{"version": version, "data": data}, RequestFlags())...)
}
