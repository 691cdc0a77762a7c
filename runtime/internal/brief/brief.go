// Package brief shortens texts and lists for error messages, so that they stay bounded.
package brief

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Shorten returns s, or its first 64 bytes at most, cut between two characters, with "..." added.
func Shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// JoinNames joins names with commas and stops after 30: a union may have thousands of branches.
func JoinNames(names []string) string {
	const most = 30
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
