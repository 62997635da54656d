package outbound

import (
	"net/netip"
	"testing"

	"relabel"
)

// embed writes an IPv4 address into an IPv6 address at these byte positions.
func embed(prefix string, v4 [4]byte, at [4]int, invert bool) netip.Addr {
	b := netip.MustParseAddr(prefix).As16()
	for i, position := range at {
		b[position] = v4[i]
		if invert {
			b[position] = ^v4[i]
		}
	}
	return netip.AddrFrom16(b)
}

func TestNoLayoutHidesAnAddress(t *testing.T) {
	tail := [4]int{12, 13, 14, 15}
	for _, layout := range []struct {
		name   string
		prefix string
		at     [4]int
		invert bool
		opaque bool // refused whatever is in it
	}{
		{name: "IPv4-mapped", prefix: "::ffff:0:0", at: tail},
		{name: "IPv4-compatible", prefix: "::", at: tail},
		{name: "IPv4-translated", prefix: "::ffff:0:0:0", at: tail},
		{name: "NAT64 /96", prefix: "64:ff9b::", at: tail},
		{name: "local NAT64 /48", prefix: "64:ff9b:1::", at: [4]int{6, 7, 9, 10}, opaque: true},
		{name: "local NAT64 /48 with a suffix", prefix: "64:ff9b:1::808:808", at: [4]int{6, 7, 9, 10}, opaque: true},
		{name: "local NAT64 /56", prefix: "64:ff9b:1:ff00::", at: [4]int{7, 9, 10, 11}, opaque: true},
		{name: "local NAT64 /64", prefix: "64:ff9b:1:fffe::", at: [4]int{9, 10, 11, 12}, opaque: true},
		{name: "local NAT64 /96", prefix: "64:ff9b:1::", at: tail, opaque: true},
		{name: "6to4", prefix: "2002::1", at: [4]int{2, 3, 4, 5}},
		{name: "Teredo client", prefix: "2001:0:808:808::", at: tail, invert: true},
		{name: "Teredo server", prefix: "2001::f7f7:f7f7", at: [4]int{4, 5, 6, 7}},
		{name: "ISATAP", prefix: "2001:db8::5efe:0:0", at: tail},
		{name: "ISATAP, global", prefix: "2001:db8::200:5efe:0:0", at: tail},
		{name: "ISATAP, unique local", prefix: "fd12::5efe:0:0", at: tail},
	} {
		for _, v4 := range []string{"169.254.169.254", "169.254.1.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "0.0.0.0", "8.8.8.8"} {
			address := embed(layout.prefix, netip.MustParseAddr(v4).As4(), layout.at, layout.invert)
			refuse := layout.opaque || v4 != "8.8.8.8"
			if err := (Rule{}).Check(address); (relabel.CodeOf(err) == relabel.CodeAddressRefused) != refuse {
				t.Errorf("%s of %s, %s: %v", layout.name, v4, address, err)
			}
		}
	}
}

func TestEmbeddedAddressesMustBeAllowed(t *testing.T) {
	r, err := NewRule([]string{"10.0.0.0/8", "fd12::/16"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"64:ff9b::10.0.0.1": true, "64:ff9b::11.0.0.1": false, "2002:a00:1::1": true, "2002:b00:1::1": false,
		"fd12::5efe:10.0.0.1": true, "fd12::5efe:11.0.0.1": false, "fd13::5efe:10.0.0.1": false,
	} {
		if err := r.Check(netip.MustParseAddr(address)); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
