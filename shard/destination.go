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
	"relabel/shard/hub"
)

// Destinations says which object stores exports may be written to, and with which keys.
type Destinations struct {
	// Transport connects to the stores; nil: the default one.
	Transport *http.Transport
	// Endpoints are the additional servers, as URLs such as https://s3.example.org, that a
	// destination may name and that keys may be sent to. The providers' own servers and those
	// set in the environment (AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AZURE_STORAGE_DOMAIN)
	// are always allowed.
	Endpoints []string
	// CloudKeys allows keys from the machine's own role or identity, which are fetched from
	// its metadata service.
	CloudKeys bool
}

// destination is a parsed destination: a bucket and a prefix without surrounding slashes.
type destination struct {
	scheme, bucket, prefix string
	options                url.Values
	server                 string // server URL given in the destination; "": the provider's
}

// Supported schemes. Google Cloud Storage is used through its S3-compatible endpoint (s3://);
// docs/destinations.md explains why.
const (
	schemeS3    = "s3"
	schemeAzure = "azblob"
)

// destinationOptions lists the query parameters that a destination may have, by scheme. Keys,
// and the servers they are sent to, are configured by the operator only.
var destinationOptions = map[string][]string{
	schemeS3: {"region", "endpoint", "use_path_style", "s3ForcePathStyle", "ssetype", "kmskeyid", "accelerate", "dualstack", "fips",
		"request_checksum_calculation", "response_checksum_validation"},
	schemeAzure: {"storage_account", "domain", "protocol", "localemu"},
}

// Patterns for values that become part of a host name.
var (
	bucketForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)
	regionForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	accountForm = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
)

// badDestination returns a CodeInvalid error for the field destination.
func badDestination(format string, args ...any) error {
	return relabel.Errorf(relabel.CodeInvalid, format, args...).On("destination")
}

// parse parses a destination URL. It returns CodeInvalid if the URL does not name a bucket,
// contains a secret, has an unknown option, or names a server that the operator has not
// allowed.
func (d Destinations) parse(raw string) (at destination, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return at, badDestination("must be the URL of a bucket, such as s3://bucket/prefix?region=eu-west-1, or of a data set, such as hf://organisation/name")
	}
	at = destination{scheme: u.Scheme, bucket: u.Host, prefix: strings.Trim(u.Path, "/"), options: u.Query()}
	known, ok := destinationOptions[u.Scheme]
	switch {
	case !ok:
		return at, badDestination("has the unsupported scheme %q; use %s, %s or %s", u.Scheme, schemeS3, schemeAzure, hub.Scheme)
	case u.User != nil:
		return at, badDestination("must not contain a key: workers read keys from their environment (AWS_ACCESS_KEY_ID etc.)")
	case !bucketForm.MatchString(at.bucket):
		return at, badDestination("has an invalid bucket name: only letters, digits, dots, hyphens and underscores are allowed")
	case at.prefix != "" && !fs.ValidPath(at.prefix):
		return at, badDestination("has a prefix with empty, \".\" or \"..\" segments")
	}
	for name, values := range at.options {
		if !slices.Contains(known, name) {
			return at, badDestination("has the unknown option %.100q; %s supports %s; keys are set in relabel's environment", name, u.Scheme, strings.Join(known, ", "))
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
		return at, badDestination("names the server %.200s, which is not allowed: keys are sent only to servers given to serve and worker with --destination-endpoint", at.server)
	}
	return at, nil
}

// checkNew returns CodeInvalid if a new export may not have the prefix, because its objects would have another name.
func (at destination) checkNew() error {
	if folder := at.prefix + "/"; storedName(at.scheme, folder) != folder {
		return badDestination("has a prefix with characters that not every server keeps: use letters, digits, dots, hyphens and underscores, " +
			"no folder that ends in \"..\", and no \"__0x\"")
	}
	return nil
}

// checkOptions returns CodeInvalid if an option has an invalid value.
func (at destination) checkOptions() error {
	for name, form := range map[string]*regexp.Regexp{"region": regionForm, "storage_account": accountForm} {
		if value := at.options.Get(name); value != "" && !form.MatchString(value) {
			return badDestination("has the invalid %s %.100q", name, value)
		}
	}
	for _, name := range []string{"use_path_style", "s3ForcePathStyle", "accelerate", "dualstack", "fips", "localemu"} {
		if value := at.options.Get(name); value != "" && value != "true" && value != "false" {
			return badDestination("has the option %s, which must be true or false", name)
		}
	}
	for _, name := range []string{"request_checksum_calculation", "response_checksum_validation"} {
		if value := at.options.Get(name); value != "" && value != "when_supported" && value != "when_required" {
			return badDestination("has the option %s, which must be when_supported or when_required", name)
		}
	}
	return nil
}

// namedServer returns the URL of the server that the destination names, or "".
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

// accepts reports whether the operator allows a server.
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

// origin returns the scheme, host and port of a URL; false if the URL has any other part.
func origin(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(raw, "?#") || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port, true
}

// CheckEndpoint returns CodeInvalid if endpoint is not a server's URL.
func CheckEndpoint(endpoint string) error {
	if _, ok := origin(endpoint); !ok {
		return relabel.Errorf(relabel.CodeInvalid, "%.200q is not a server address: use http://HOST:PORT or https://HOST", endpoint).On("--destination-endpoint")
	}
	return nil
}

// name returns the destination as messages show it: bucket, prefix, and the server if one is
// named.
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
