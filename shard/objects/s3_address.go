package objects

import (
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
)

var (
	// hostPart matches the buckets that may be a part of a host name.
	hostPart = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)
	// otherBucket matches the buckets of S3 that have another protocol.
	otherBucket = regexp.MustCompile(`--(x|op|ol|xa)-s3$`)
)

// domains are the domains of AWS's partitions by the start of a region's name; all others are in amazonaws.com.
var domains = []struct{ region, domain string }{
	{"cn-", "amazonaws.com.cn"},
	{"us-iso-", "c2s.ic.gov"},
	{"us-isob-", "sc2s.sgov.gov"},
	{"us-isof-", "csp.hci.ic.gov"},
	{"eu-isoe-", "cloud.adc-e.uk"},
	{"eusc-", "amazonaws.eu"},
}

// domainOf returns the domain of a region.
func domainOf(region string) string {
	for _, d := range domains {
		if strings.HasPrefix(region, d.region) {
			return d.domain
		}
	}
	return "amazonaws.com"
}

// endpoint returns the URL of the server that the operator or the destination names, or "".
func (s settings) endpoint() string {
	if named := s.options.Get("endpoint"); named != "" {
		return named
	}
	if s.providersServer {
		return ""
	}
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if named := os.Getenv(name); named != "" {
			return named
		}
	}
	return s.profile["endpoint_url"]
}

// bucketURL returns the URL of a bucket.
func (s settings) bucketURL(bucket, region string) (string, error) {
	if otherBucket.MatchString(bucket) {
		return "", SettingError("relabel does not support directory buckets (S3 Express), access points of Object Lambda and S3 on Outposts: use a general purpose bucket")
	}
	inPath := s.pathStyle() || !hostPart.MatchString(bucket)
	if endpoint := s.endpoint(); endpoint != "" {
		return s.namedURL(endpoint, bucket, inPath)
	}
	host, err := s.providersHost(region, inPath)
	if err != nil {
		return "", err
	}
	if inPath {
		return "https://" + host + "/" + bucket, nil
	}
	return "https://" + bucket + "." + host, nil
}

// providersHost returns the host of AWS's service.
func (s settings) providersHost(region string, inPath bool) (string, error) {
	service, place := "s3", "."+region
	switch {
	case s.accelerate() && (s.fips || inPath):
		return "", SettingError("accelerate cannot be used with fips, use_path_style, or a bucket with dots, capital letters or underscores")
	case s.accelerate():
		service, place = "s3-accelerate", ""
	case s.fips:
		service = "s3-fips"
	}
	if s.dualStack {
		service += ".dualstack"
	}
	return service + place + "." + domainOf(region), nil
}

// namedURL returns the URL of a bucket on a server that is not AWS's own.
func (s settings) namedURL(endpoint, bucket string, inPath bool) (string, error) {
	for option, set := range map[string]bool{"accelerate": s.accelerate(), "dualstack": s.dualStack, "fips": s.fips} {
		if set {
			return "", SettingError(option + " is for AWS's own servers, and cannot be used with an endpoint") // whose address may have a password
		}
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", SettingError("the endpoint in the environment is not a URL such as https://s3.example.org")
	}
	u.Path, u.RawPath, u.RawQuery, u.User = strings.TrimRight(u.Path, "/"), "", "", nil
	if inPath || net.ParseIP(u.Hostname()) != nil {
		return u.String() + "/" + bucket, nil
	}
	u.Host = bucket + "." + u.Host
	return u.String(), nil
}
