package shard

import (
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// Destinations say which object stores exports may go to, and with whose keys.
type Destinations struct {
	// Transport connects to the stores; nil: the default one.
	Transport *http.Transport
	// Endpoints are the servers, as URLs such as https://s3.example.org, that a destination
	// may name and that keys are sent to, beside those of the providers and those of the
	// environment (AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AZURE_STORAGE_DOMAIN).
	Endpoints []string
	// CloudKeys lets keys come from the machine's own role or identity, which its metadata
	// service is asked for.
	CloudKeys bool
}

// destination is a bucket and the prefix within it, without slashes around.
type destination struct {
	scheme, bucket, prefix string
	options                url.Values
	server                 string // that was named, as a URL; "": the provider's
}

// The stores that an export can go to. Google's is reached as s3:// with its endpoint for
// that protocol; docs/destinations.md says what its own client would cost.
const (
	schemeS3    = "s3"
	schemeAzure = "azblob"
)

// destinationOptions are what a destination may say of how its bucket is reached. Where
// keys come from, and which server they are sent to, is the operator's to say.
var destinationOptions = map[string][]string{
	schemeS3: {"region", "endpoint", "use_path_style", "s3ForcePathStyle", "ssetype", "kmskeyid", "accelerate", "dualstack", "fips",
		"request_checksum_calculation", "response_checksum_validation"},
	schemeAzure: {"storage_account", "domain", "protocol", "localemu"},
}

// Values of options that become part of a server's name.
var (
	bucketForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)
	regionForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	accountForm = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
)

// badDestination is a CodeInvalid error on the destination.
func badDestination(format string, args ...any) error {
	return relabel.Errorf(relabel.CodeInvalid, format, args...).On("destination")
}

// parse takes a destination's URL apart. It refuses, with CodeInvalid, what is not a
// bucket's URL, holds a secret, has an option that is not known or names a server that the
// operator did not.
func (d Destinations) parse(raw string) (at destination, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return at, badDestination("must be the URL of a bucket, such as s3://bucket/prefix?region=eu-west-1")
	}
	at = destination{scheme: u.Scheme, bucket: u.Host, prefix: strings.Trim(u.Path, "/"), options: u.Query()}
	known, ok := destinationOptions[u.Scheme]
	switch {
	case !ok:
		return at, badDestination("has the scheme %q; %s and %s are known", u.Scheme, schemeS3, schemeAzure)
	case u.User != nil:
		return at, badDestination("must not hold a key: workers take it from their environment (AWS_ACCESS_KEY_ID and the like)")
	case !bucketForm.MatchString(at.bucket):
		return at, badDestination("has a bucket that is not named by letters, digits, dots, hyphens and underscores")
	case at.prefix != "" && !fs.ValidPath(at.prefix):
		return at, badDestination("has a prefix with empty or dotted parts")
	}
	for name, values := range at.options {
		if !slices.Contains(known, name) {
			return at, badDestination("has the option %.100q; for %s there are %s: which keys are used is said in the environment of relabel", name, u.Scheme, strings.Join(known, ", "))
		}
		if len(values) > 1 {
			return at, badDestination("has the option %s twice", name)
		}
	}
	if err := at.checkOptions(); err != nil {
		return at, err
	}
	at.server = at.namedServer()
	if at.server != "" && !d.accepts(at.server) {
		return at, badDestination("names the server %.200s, which the operator of relabel did not: keys are sent only to servers that serve and worker were given with --destination-endpoint", at.server)
	}
	return at, nil
}

// checkOptions refuses values that are not what they are for.
func (at destination) checkOptions() error {
	for name, form := range map[string]*regexp.Regexp{"region": regionForm, "storage_account": accountForm} {
		if value := at.options.Get(name); value != "" && !form.MatchString(value) {
			return badDestination("has the %s %.100q, which is not one", name, value)
		}
	}
	for _, name := range []string{"use_path_style", "s3ForcePathStyle", "accelerate", "dualstack", "fips", "localemu"} {
		if value := at.options.Get(name); value != "" && value != "true" && value != "false" {
			return badDestination("has the option %s, which is true or false", name)
		}
	}
	return nil
}

// namedServer is the server that the destination names, as a URL; "" for none.
func (at destination) namedServer() string {
	if endpoint := at.options.Get("endpoint"); endpoint != "" {
		return endpoint
	}
	domain, protocol := at.options.Get("domain"), at.options.Get("protocol")
	if domain == "" && protocol == "" {
		return ""
	}
	if protocol == "" {
		protocol = "https"
	}
	if domain == "" {
		domain = "blob.core.windows.net"
	}
	return protocol + "://" + domain
}

// accepts reports whether the operator named a server.
func (d Destinations) accepts(server string) bool {
	wanted, ok := origin(server)
	if !ok {
		return false
	}
	named := append([]string{os.Getenv("AWS_ENDPOINT_URL"), os.Getenv("AWS_ENDPOINT_URL_S3")}, d.Endpoints...)
	if domain := os.Getenv("AZURE_STORAGE_DOMAIN"); domain != "" {
		protocol := os.Getenv("AZURE_STORAGE_PROTOCOL")
		if protocol == "" {
			protocol = "https"
		}
		named = append(named, protocol+"://"+domain)
	}
	return slices.ContainsFunc(named, func(one string) bool {
		is, ok := origin(one)
		return ok && is == wanted
	})
}

// origin is the scheme, host and port of a URL that has nothing else.
func origin(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port, true
}

// CheckEndpoint refuses, with CodeInvalid, what is not the URL of a server.
func CheckEndpoint(endpoint string) error {
	if _, ok := origin(endpoint); !ok {
		return relabel.Errorf(relabel.CodeInvalid, "%.200q is not the address of a server: write http://HOST:PORT or https://HOST", endpoint).On("--destination-endpoint")
	}
	return nil
}

// name is a destination as messages name it: the bucket and the prefix, and the server
// where one is named.
func (at destination) name() string {
	name := (&url.URL{Scheme: at.scheme, Host: at.bucket, Path: "/" + at.prefix}).String()
	if at.prefix == "" {
		name = strings.TrimSuffix(name, "/")
	}
	for _, option := range []string{"endpoint", "domain"} {
		if server := at.options.Get(option); server != "" {
			name += " at " + server
		}
	}
	return name
}
