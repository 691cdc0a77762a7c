package limit

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Proxies are addresses and networks of proxies.
type Proxies []netip.Prefix

// ParseProxies reads the addresses and networks that stand in a field of a configuration. Another
// text is refused with CodeInvalid.
func ParseProxies(field string, texts []string) (out Proxies, err error) {
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				return nil, runtime.Errorf(runtime.CodeInvalid, "new server",
					"%q of %s is no address and no network like 10.0.0.0/8", text, field)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		out = append(out, prefix.Masked())
	}
	return out, nil
}

// Hold reports whether an address is one of theirs.
func (p Proxies) Hold(address string) bool {
	addr, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(p, func(network netip.Prefix) bool {
		return network.Contains(addr.Unmap())
	})
}

// ClientAddress returns the address that a request is from. Behind these proxies it is the last
// one in Forwarded, or else in X-Forwarded-For, that is none of theirs: what stands before that the
// client may have written itself. From any other address these headers are not read.
func (p Proxies) ClientAddress(r *http.Request) string {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	if !p.Hold(from) {
		return from
	}
	hops := forwarded(r.Header)
	for _, hop := range slices.Backward(hops) {
		addr, err := netip.ParseAddr(hop)
		if err != nil { // who sent it is not known: they share the address of the hop before
			return from
		}
		if from = addr.Unmap().String(); !p.Hold(from) {
			return from
		}
	}
	return from
}

// forwarded lists the hops of a request, without ports, the nearest last.
func forwarded(h http.Header) (hops []string) {
	if lines := h.Values("Forwarded"); len(lines) > 0 {
		for element := range strings.SplitSeq(strings.Join(lines, ","), ",") {
			hop := ""
			for pair := range strings.SplitSeq(element, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
				if strings.EqualFold(name, "for") {
					hop = strings.Trim(value, `"`)
				}
			}
			hops = append(hops, withoutPort(hop))
		}
		return hops
	}
	for hop := range strings.SplitSeq(strings.Join(h.Values("X-Forwarded-For"), ","), ",") {
		if hop = strings.TrimSpace(hop); hop != "" {
			hops = append(hops, withoutPort(hop))
		}
	}
	return hops
}

func withoutPort(hop string) string {
	if host, _, err := net.SplitHostPort(hop); err == nil {
		return host
	}
	return strings.Trim(hop, "[]")
}
