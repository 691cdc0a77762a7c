// Package format checks strings against the formats of JSON Schema that a spec may name.
package format

import (
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Matches reports whether s has the format of that name. An unknown format matches every string, as
// JSON Schema says.
func Matches(name, s string) bool {
	switch name {
	case "date-time":
		return isTime(s)
	case "date":
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	case "time":
		return isTime("2006-01-02T" + s)
	case "email":
		a, err := mail.ParseAddress(s)
		return err == nil && a.Address == s
	case "hostname":
		return isHostname(s)
	case "ipv4":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	case "ipv6":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	case "uuid":
		return isUUID(s)
	case "uri":
		u, err := url.Parse(s)
		return err == nil && u.IsAbs()
	}
	return true
}

func isTime(s string) bool {
	var t time.Time
	return t.UnmarshalText([]byte(strings.ToUpper(s))) == nil
}

// isHostname checks s against RFC 1123: labels of letters, digits and inner hyphens.
func isHostname(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return false
			}
		}
	}
	return true
}
