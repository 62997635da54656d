package main

import (
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"relabel"
	"relabel/outbound"
	"relabel/shard"
	"relabel/shard/tokenizers"
)

// tokenizerFlags say which tokenizers of this machine may be named by a path.
type tokenizerFlags struct {
	Tokenizers string `env:"RELABEL_TOKENIZERS" placeholder:"DIR" help:"Folder below which exports and policies may name tokenizers by path. Default: only registered tokenizers can be named."`
}

// outboundFlags say what this process may connect to, and with whose keys.
type outboundFlags struct {
	AllowAddress        wordList `env:"RELABEL_ALLOW_ADDRESS" placeholder:"CIDR" help:"Connect to policies, webhooks and destinations only in this range of addresses; may be repeated. Default: all but link-local, metadata, multicast and broadcast addresses, which are refused always."`
	DestinationEndpoint wordList `env:"RELABEL_DESTINATION_ENDPOINT" placeholder:"URL" help:"Server that destinations of exports may name with endpoint= or domain=, and that keys may be sent to, e.g. https://s3.example.org; may be repeated. Default: only those of the providers and of AWS_ENDPOINT_URL."`
	CloudCredentials    bool     `env:"RELABEL_CLOUD_CREDENTIALS" help:"Take the keys of destinations also from this machine's own role or identity, which its metadata service is asked for."`
}

// resourceFlags say what of its surroundings this process may use for others.
type resourceFlags struct {
	tokenizerFlags
	outboundFlags
}

// resources are what this process may use for those who ask it to.
type resources struct {
	tokenizers   *tokenizers.Opener
	rule         outbound.Rule // of addresses
	destinations shard.Destinations
}

// wordList is a flag's list whose elements commas separate, with or without spaces.
type wordList []string

// Decode appends the elements of one value.
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

// environmentResources are the flags of a command that serves only itself: those of serve
// and worker, as the environment has them.
func environmentResources() (f resourceFlags, err error) {
	parser, err := kong.New(&f)
	if err != nil {
		return f, err
	}
	if _, err = parser.Parse(nil); err != nil {
		return f, relabel.Errorf(relabel.CodeInvalid, "the environment has a value that cannot be read: %v", err)
	}
	return f, nil
}

// check refuses flags that are not what they are for.
func (f resourceFlags) check() error {
	for _, endpoint := range f.DestinationEndpoint {
		if err := shard.CheckEndpoint(endpoint); err != nil {
			return err
		}
	}
	if info, err := os.Stat(f.Tokenizers); f.Tokenizers != "" && (err != nil || !info.IsDir()) {
		return relabel.Errorf(relabel.CodeInvalid, "is not a folder").On("--tokenizers").Because(err)
	}
	_, err := f.addressRule()
	return err
}

// addressRule is the rule of the addresses to connect to.
func (f outboundFlags) addressRule() (outbound.Rule, error) { return outbound.NewRule(f.AllowAddress) }

// environmentRule is the address rule of a command that connects by itself: what serve and
// worker would obey with the same environment.
func environmentRule() (outbound.Rule, error) {
	f, err := environmentResources()
	if err != nil {
		return outbound.Rule{}, err
	}
	return f.addressRule()
}

// open returns the resources. CodeInvalid where check refuses the flags.
func (f resourceFlags) open(db *database) (r resources, err error) {
	if err := f.check(); err != nil {
		return r, err
	}
	if r.rule, err = f.addressRule(); err != nil {
		return r, err
	}
	r.destinations = shard.Destinations{Transport: r.rule.Transport(), Endpoints: f.DestinationEndpoint, CloudKeys: f.CloudCredentials}
	r.tokenizers, err = tokenizers.NewOpener(db.Store, f.Tokenizers)
	return r, err
}
