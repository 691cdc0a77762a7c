package spec

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The invisible characters that some scripts are not written without.
const (
	nonJoiner = '\u200C'
	joiner    = '\u200D'
)

// joins are the scripts whose letters change their form beside each other, and backwards those
// written from right to left.
var (
	joins = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko,
		unicode.Mongolian, unicode.Phags_Pa, unicode.Manichaean, unicode.Adlam,
		unicode.Hanifi_Rohingya}
	backwards = []*unicode.RangeTable{unicode.Arabic, unicode.Hebrew, unicode.Syriac,
		unicode.Thaana, unicode.Mandaic, unicode.Nko, unicode.Samaritan, unicode.Manichaean,
		unicode.Adlam, unicode.Hanifi_Rohingya}
)

// viramas are the signs that take the vowel of a consonant: those of the combining class 9.
const viramas = "\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u0E3A" +
	"\u0EBA\u0F84\u1039\u103A\u1714\u1715\u1734\u17D2\u1A60\u1B44\u1BAA\u1BAB\u1BF2\u1BF3\uA806" +
	"\uA82C\uA8C4\uA953\uA9C0\uAAF6\uABED"

// isWritten reports whether an invisible character changes what a reader sees, so that texts cannot
// do without it. It stands between two texts of one line. A joiner needs a sign that takes a
// vowel beside it, letters that change their form beside each other, or two pictures; a mark of
// direction needs a letter that is written from right to left somewhere on the line. This is a
// little more than the rule CONTEXTJ of RFC 5892 allows in names: texts have an Arabic letter in
// its initial form at the end of a word, and a Bengali joiner in front of the sign.
func isWritten(c rune, before, after []byte) bool {
	last, _ := utf8.DecodeLastRune(before)
	next, _ := utf8.DecodeRune(after)
	switch c {
	case '\u200E', '\u200F', '\u061C':
		isBackward := func(c rune) bool {
			return unicode.In(c, backwards...) && unicode.IsLetter(c)
		}
		return bytes.ContainsFunc(before, isBackward) || bytes.ContainsFunc(after, isBackward)
	case nonJoiner:
		return isVirama(last) || isJoining(beside(before)) && isJoining(ahead(after))
	case joiner:
		return isVirama(last) || isVirama(next) && unicode.IsLetter(last) ||
			isJoining(beside(before)) || isJoining(ahead(after)) && !unicode.IsLetter(last) ||
			isPicture(last) && unicode.Is(unicode.So, next)
	}
	return false
}

func isVirama(c rune) bool { return strings.ContainsRune(viramas, c) && c != utf8.RuneError }

func isJoining(c rune) bool { return unicode.IsLetter(c) && unicode.In(c, joins...) }

// isPicture reports whether a character is an emoji, or changes the one before it.
func isPicture(c rune) bool {
	return unicode.Is(unicode.So, c) || c == 0xFE0F || c >= 0x1F3FB && c <= 0x1F3FF
}

// beside returns the last character of a text that is not a mark on the one before it.
func beside(text []byte) rune {
	for {
		c, size := utf8.DecodeLastRune(text)
		if !unicode.Is(unicode.Mn, c) {
			return c
		}
		text = text[:len(text)-size]
	}
}

// ahead returns the first character of a text that is not a mark.
func ahead(text []byte) rune {
	for {
		c, size := utf8.DecodeRune(text)
		if !unicode.Is(unicode.Mn, c) {
			return c
		}
		text = text[size:]
	}
}

// hiddenIn returns the first character of a text that nobody could see, and what it is; "" for
// none. Texts for people may have those that their script is not written without.
func hiddenIn(text string, forPeople bool) (c rune, kind string) {
	for i, c := range text {
		kind := hiddenKind(c)
		if kind == "" || c == '\n' || c == '\t' {
			continue
		}
		from, end := lineAround([]byte(text), i)
		if !forPeople || !isWritten(c, []byte(text[from:i]), []byte(text[i+utf8.RuneLen(c):end])) {
			return c, kind
		}
	}
	return 0, ""
}

// maxLineAround is how far from a mark of direction its line is looked at, so that one huge line
// stays cheap.
const maxLineAround = 4096

// lineAround returns where the line around an offset begins and ends.
func lineAround(text []byte, at int) (from, end int) {
	from, end = max(0, at-maxLineAround), min(len(text), at+maxLineAround)
	if n := bytes.LastIndexByte(text[from:at], '\n'); n >= 0 {
		from += n + 1
	}
	if n := bytes.IndexByte(text[at:end], '\n'); n >= 0 {
		end = at + n
	}
	return from, end
}
