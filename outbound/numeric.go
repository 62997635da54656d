package outbound

import (
	"net/netip"
	"strconv"
	"strings"
)

// numeric parses an IPv4 address in the forms of inet_aton: one to four decimal, octal or
// hexadecimal numbers, the last of which fills the remaining bytes.
func numeric(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	address := uint64(0)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || strings.Contains(part, "_") || n >= 1<<bits {
			return netip.Addr{}, false
		}
		address = address<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}), true
}
