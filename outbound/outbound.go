// Package outbound decides which addresses of policies, webhooks and destinations this process may
// connect to. The rule is applied to each dialled address, after names are resolved, so neither a
// name that changes its address nor a redirect can evade it.
package outbound

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"relabel"
)

// Rule decides which addresses may be dialled. Link-local, metadata, unspecified, multicast
// and broadcast addresses are always refused; loopback and private ones are allowed. The zero
// Rule allows all others. It is safe for concurrent use.
type Rule struct {
	allow []netip.Prefix
}

// NewRule returns a rule that allows only addresses in one of the CIDR prefixes (all if there
// are none), except those that are always refused. CodeInvalid names an invalid prefix.
func NewRule(cidrs []string) (Rule, error) {
	var r Rule
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			address, addressError := netip.ParseAddr(cidr)
			if addressError != nil {
				return r, relabel.Errorf(relabel.CodeInvalid, "%.100q is not a range of addresses such as 10.0.0.0/8", cidr).On("--allow-address").Because(err)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		r.allow = append(r.allow, prefix.Masked())
	}
	return r, nil
}

// never are prefixes that are always refused, in addition to the kinds in forbidden.
var never = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("255.255.255.255/32"), "a broadcast address"},
	{netip.MustParsePrefix("fd00:ec2::/32"), "a metadata address of a cloud"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "a metadata address of a cloud"},
	{netip.MustParsePrefix("100.100.100.200/32"), "a metadata address of a cloud"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a metadata address of a cloud"},
	{netip.MustParsePrefix("192.0.0.192/32"), "a metadata address of a cloud"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "of the range of local NAT64 translators, where only the translator knows which IPv4 address it leads to"},
}

// metadataNames are names of metadata services, for proxies that resolve names themselves.
var metadataNames = []string{"metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.azure.com", "instance-data", "instance-data.ec2.internal"}

// Check returns CodeAddressRefused if the address may not be dialled.
func (r Rule) Check(address netip.Addr) error {
	for _, to := range destinations(address) {
		if what := forbidden(to); what != "" {
			return refused("%s is %s: relabel never connects to such addresses", address, what)
		}
		if !r.allows(to) {
			return refused("%s is not in a range of --allow-address: the operator of relabel can add its range, at the server and at every worker", address)
		}
	}
	return nil
}

// allows reports whether an address is in one of the prefixes, or there are none.
func (r Rule) allows(address netip.Addr) bool {
	for _, prefix := range r.allow {
		if prefix.Contains(address) {
			return true
		}
	}
	return len(r.allow) == 0
}

func refused(format string, args ...any) error {
	return relabel.Errorf(relabel.CodeAddressRefused, format, args...)
}

// forbidden returns the kind of an address that is always refused, "" for others.
func forbidden(address netip.Addr) string {
	for _, n := range never {
		if n.prefix.Contains(address) {
			return n.what
		}
	}
	switch {
	case !address.IsValid() || address.IsUnspecified():
		return "unspecified"
	case address.IsLinkLocalUnicast():
		return "link-local, where metadata services are"
	case address.IsMulticast():
		return "a multicast address"
	}
	return ""
}

// Control implements net.Dialer's Control: it refuses to connect a socket to a refused
// address.
func (r Rule) Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return refused("%.100q is not an address", address)
	}
	return r.Check(at.Addr())
}

// CheckURL returns CodeAddressRefused for a URL whose host is a refused address or the name
// of a metadata service. Other names are checked when they are dialled.
func (r Rule) CheckURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return nil // callers check the form of URLs
	}
	return r.checkHost(u.Hostname())
}

// checkHost checks the host of a URL.
func (r Rule) checkHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	for _, metadata := range metadataNames {
		if name == metadata {
			return refused("%s is the name of a metadata service: relabel never connects to it", name)
		}
	}
	if address, ok := literal(name); ok {
		return r.Check(address)
	}
	return nil
}

// literal parses an address in any form that C library resolvers, and so proxies, accept:
// 2852039166 and 0xa9.254.0xa9.254 are 169.254.169.254.
func literal(host string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(host); err == nil {
		return address, true
	}
	return numeric(host)
}

// Limits of connections.
const (
	dialTimeout = 30 * time.Second
	keepAlive   = 30 * time.Second
	mostHeaders = 256 << 10 // bytes before an answer's body, which errors may have
)

// Transport returns a transport like the default one that connects only to addresses that the
// rule allows. It uses the proxies of the environment (HTTPS_PROXY etc.): the proxy's address
// must be allowed, and also the target's as far as this machine can resolve it, since the
// proxy dials it.
func (r Rule) Transport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Control: r.Control}
	return &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			proxy, err := http.ProxyFromEnvironment(req)
			if proxy == nil || err != nil {
				return proxy, err
			}
			return proxy, r.checkTarget(req.Context(), req.URL.Hostname())
		},
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: mostHeaders,
	}
}

// checkTarget checks the target of a request that goes through a proxy. A name that does not
// resolve here is allowed unless the rule has prefixes: only the proxy can resolve it.
func (r Rule) checkTarget(ctx context.Context, host string) error {
	if err := r.checkHost(host); err != nil {
		return err
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		if len(r.allow) > 0 {
			return refused("%.100q has no address here, so that --allow-address cannot be applied to what the proxy would connect to", host)
		}
		return nil
	}
	for _, address := range addresses {
		if err := r.Check(address); err != nil {
			return err
		}
	}
	return nil
}
