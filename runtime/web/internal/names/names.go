// Package names brings the names of people that somebody types to one form, so that one person is
// one name however it is written.
package names

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normal returns the form of a typed name that is stored and compared: NFKC, case-folded, without
// spaces around it or several in a row, and without characters that are not shown (Unicode's
// NFKC_Casefold, and spaces). A name in its normal form stays as it is. It refuses text that is not
// UTF-8, control characters, and letters of several scripts in one name, as UTS 39 has it: Latin,
// Cyrillic and Greek hold the same shapes.
func Normal(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", errors.New("is not UTF-8")
	}
	// Folding can undo a composition, and composing can make a letter that folds: twice is enough
	// for all of Unicode, and a third time shows it.
	for range 3 {
		folded := strings.Map(func(r rune) rune {
			if ignorable(r) {
				return -1
			}
			return r
		}, norm.NFD.String(name))
		folded = norm.NFKC.String(cases.Fold().String(folded))
		if folded = strings.Join(strings.Fields(folded), " "); folded == name {
			break
		}
		name = folded
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "", errors.New("holds a control character: leave it out")
	}
	if mixed(name) {
		return "", errors.New("mixes letters of several scripts that look alike: " +
			"write it in one script")
	}
	return name, nil
}

// ignorable reports whether a character has the property Default_Ignorable_Code_Point: it is not
// shown, and two names that differ in it alone look the same.
func ignorable(r rune) bool {
	switch {
	case r >= 0xFFF9 && r <= 0xFFFB, r >= 0x13430 && r <= 0x1343F,
		unicode.Is(unicode.Prepended_Concatenation_Mark, r), unicode.Is(unicode.White_Space, r):
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf,
		unicode.Variation_Selector)
}

// together are the scripts of one way of writing, which UTS 39 takes for one script.
var together = []map[string]bool{
	{"Han": true, "Hiragana": true, "Katakana": true}, // Japanese
	{"Han": true, "Hangul": true},                     // Korean
	{"Han": true, "Bopomofo": true},                   // Chinese
}

// mixed reports whether a name has letters of scripts that are not written together.
func mixed(name string) bool {
	found := map[string]bool{}
	for _, r := range name {
		if s := scriptOf(r); s != "" {
			found[s] = true
		}
	}
	if len(found) < 2 {
		return false
	}
	for _, system := range together {
		all := true
		for s := range found {
			all = all && system[s]
		}
		if all {
			return false
		}
	}
	return true
}

// scriptOf returns the script of a character, "" for one that all scripts use.
func scriptOf(r rune) string {
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "" // not assigned
}
