package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"relabel"
)

// ResourceFlags bound what a process may use of its surroundings for its clients.
type ResourceFlags struct {
	Tokenizers          string   `env:"RELABEL_TOKENIZERS" placeholder:"DIR" help:"Folder below which exports and policies may name tokenizers by path. Default: only registered tokenizers can be named."`
	AllowAddress        wordList `env:"RELABEL_ALLOW_ADDRESS" placeholder:"CIDR" help:"Connect to policies, webhooks and destinations only in this range of addresses; may be repeated. Default: all but link-local, metadata, multicast and broadcast addresses, which are always refused."`
	DestinationEndpoint wordList `env:"RELABEL_DESTINATION_ENDPOINT" placeholder:"URL" help:"Server that destinations of exports may name with endpoint= or domain=, and that may receive keys, e.g. https://s3.example.org; may be repeated. Default: only those of the providers and of AWS_ENDPOINT_URL."`
	CloudCredentials    bool     `env:"RELABEL_CLOUD_CREDENTIALS" help:"Also use this machine's own role or identity, from its metadata service, for the keys of destinations."`
}

// wordList is a list of words in a flag, separated by commas with or without spaces.
type wordList []string

// Decode appends the words of one value.
func (l *wordList) Decode(ctx *kong.DecodeContext) error {
	var value string
	if err := ctx.Scan.PopValueInto("list", &value); err != nil {
		return err
	}
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*l = append(*l, word)
		}
	}
	return nil
}

// EnvironmentResources returns the flags that serve and worker would have with this environment,
// for a command that has none of them.
func EnvironmentResources() (f ResourceFlags, err error) {
	parser, err := kong.New(&f)
	if err != nil {
		return f, err
	}
	if _, err = parser.Parse(nil); err != nil {
		return f, relabel.Errorf(relabel.CodeInvalid, "the environment has a value that cannot be read: %v", err)
	}
	return f, nil
}

// CheckTokenizers refuses a folder of tokenizers that does not exist.
func (f ResourceFlags) CheckTokenizers() error {
	if f.Tokenizers != "" && !IsFolder(f.Tokenizers) {
		return relabel.Errorf(relabel.CodeInvalid, "%s is not a folder", f.Tokenizers).On("--tokenizers")
	}
	return nil
}
