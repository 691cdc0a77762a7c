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
	_, ok := ParseTime(s)
	return ok
}

// ParseTime reads a time of RFC 3339, with date, time and offset; t and z may be small letters. A
// leap second is refused, as is whatever could not be written again: an offset of a day or more.
func ParseTime(s string) (time.Time, bool) {
	s = strings.ToUpper(s)
	t, err := time.Parse(time.RFC3339Nano, s)
	// Go reads hours of one digit, a comma before the fraction, and offsets like +24:00.
	const hour, fraction, zone = len("2006-01-02T"), len("2006-01-02T15:04:05"), len("+07:00")
	if err != nil || s[hour+1] == ':' || s[fraction] == ',' {
		return time.Time{}, false
	}
	if offset := s[len(s)-zone:]; s[len(s)-1] != 'Z' && (offset[1:3] > "23" || offset[4:] > "59") {
		return time.Time{}, false
	}
	return t, true
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
