package outbound

import "net/netip"

// Prefixes of IPv6 addresses that lead to an IPv4 address within them. An operator's own
// NAT64 prefix (RFC 6052, section 2.2) cannot be told from other addresses.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052: the last 4 bytes
	sixToFour  = netip.MustParsePrefix("2002::/16")       // RFC 3056: bytes 2 to 5
	teredo     = netip.MustParsePrefix("2001::/32")       // RFC 4380: the server in bytes 4 to 7, the inverted client in the last 4
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291, section 2.5.5.1: the last 4 bytes
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765: the last 4 bytes
)

// destinations returns the addresses that a packet to this one reaches: the IPv4 addresses
// embedded in an IPv6 address, or the address itself.
func destinations(address netip.Addr) []netip.Addr {
	address = address.Unmap().WithZone("")
	if !address.Is6() {
		return []netip.Addr{address}
	}
	b := address.As16()
	last := netip.AddrFrom4([4]byte(b[12:16]))
	switch {
	case sixToFour.Contains(address):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case teredo.Contains(address):
		client := netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
		return []netip.Addr{client, netip.AddrFrom4([4]byte(b[4:8]))}
	case nat64.Contains(address), translated.Contains(address):
		return []netip.Addr{last}
	case compatible.Contains(address) && address != netip.IPv6Unspecified() && address != netip.IPv6Loopback():
		return []netip.Addr{last}
	case isISATAP(b):
		return []netip.Addr{address, last}
	}
	return []netip.Addr{address}
}

// isISATAP reports whether the interface identifier is that of an ISATAP address (RFC 5214,
// section 6.1), whose last 4 bytes are the IPv4 address of the tunnel's end.
func isISATAP(b [16]byte) bool {
	const universal = 0x02 // set if the IPv4 address is globally unique
	return b[8]&^universal == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
