package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"relabel"
)

// refusedAlways are addresses that no setting allows.
var refusedAlways = []string{
	"169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd20:ce::254",
	"0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "239.255.255.250", "ff02::1", "255.255.255.255",
	"::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254",
	"2001:0:1:2:3:4:5601:5601", "::ffff:0.0.0.0", "64:ff9b::e000:1",
}

// accepted are addresses of trainers and model servers.
var accepted = []string{"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd12::1", "8.8.8.8", "2606:4700::1111", "::ffff:10.0.0.1", "64:ff9b::8.8.8.8"}

func TestSomeAddressesAreNeverReached(t *testing.T) {
	all, err := NewRule([]string{"0.0.0.0/0", "::/0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Rule{{}, all} {
		for _, address := range refusedAlways {
			if err := r.Control("tcp", net.JoinHostPort(address, "80"), nil); relabel.CodeOf(err) != relabel.CodeAddressRefused {
				t.Errorf("%s: %v", address, err)
			}
		}
		for _, address := range accepted {
			if err := r.Control("tcp", net.JoinHostPort(address, "80"), nil); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}

func TestAllowedAddressesNarrow(t *testing.T) {
	r, err := NewRule([]string{"10.0.0.0/8", "fd12::/16", "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "fd12::1": true, "127.0.0.1": true,
		"127.0.0.2": false, "::1": false, "192.168.1.1": false, "8.8.8.8": false, "64:ff9b::8.8.8.8": false} {
		if err := r.Check(netip.MustParseAddr(address)); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, cidr := range []string{"", "10.0.0.0/33", "host", "10.0.0.0/8,::/0"} {
		if _, err := NewRule([]string{cidr}); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%q: %v", cidr, err)
		}
	}
}

func TestURLsAreCheckedWhereTheyNameAnAddress(t *testing.T) {
	for _, address := range []string{"http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://0/", "http://2852039166/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/",
		"http://169.254.43518/", "http://[::ffff:a9fe:a9fe]:80/", "http://metadata.google.internal./", "http://METADATA.google.internal/"} {
		if err := (Rule{}).CheckURL(address); relabel.CodeOf(err) != relabel.CodeAddressRefused {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"http://127.0.0.1:8000/v1", "https://api.example.com/v1", "http://gpu-7:8000/v1", "http://10.0.0.1", "s3://bucket", "http://1.2.3.4.5/", ":"} {
		if err := (Rule{}).CheckURL(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestATransportRefusesWhenItDials(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest/meta-data", http.StatusFound))
	defer server.Close()
	transport := Rule{}.Transport()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	// Loopback is accepted, and what it redirects to is refused before a packet leaves.
	_, err := client.Get(server.URL)
	var refused *relabel.Error
	if !errors.As(err, &refused) || refused.Code != relabel.CodeAddressRefused || !strings.Contains(refused.Message, "169.254.169.254") {
		t.Errorf("a redirect: %v", err)
	}
	narrow, err := NewRule([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.Transport().RoundTrip(httptest.NewRequest(http.MethodGet, server.URL, nil)); !errors.As(err, &refused) {
		t.Errorf("what is not allowed: %v", err)
	}
	// A name is refused for its address: no answer of a resolver leads past the rule.
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.Transport().RoundTrip(httptest.NewRequest(http.MethodGet, "http://localhost:"+port, nil)); !errors.As(err, &refused) {
		t.Errorf("a name: %v", err)
	}
}

func TestTargetsBehindAProxyAreChecked(t *testing.T) {
	narrow, err := NewRule([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"169.254.169.254", "metadata.google.internal", "0xa9fea9fe"} {
		if err := (Rule{}).checkTarget(context.Background(), host); relabel.CodeOf(err) != relabel.CodeAddressRefused {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := narrow.checkTarget(context.Background(), "10.0.0.1"); err == nil {
		t.Error("a target that is not allowed is left to the proxy")
	}
	if err := narrow.checkTarget(context.Background(), "127.0.0.1"); err != nil {
		t.Error(err)
	}
	if proxy := (Rule{}).Transport().Proxy; proxy == nil {
		t.Error("proxies of the environment are not used")
	} else if _, err := proxy(&http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1"}}); err != nil {
		t.Error(err)
	}
}

// Errors have the first line of an answer that is none of HTTP, and logs have the errors.
func TestHeadersAreBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 2*mostHeaders))
	}))
	defer server.Close()
	transport := Rule{}.Transport()
	defer transport.CloseIdleConnections()
	if _, err := (&http.Client{Transport: transport}).Get(server.URL); err == nil || !strings.Contains(err.Error(), "response headers exceeded") {
		t.Errorf("%v", err)
	}
}
