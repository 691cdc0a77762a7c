package spec

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// How many characters of a value a message shows, and how many of anything else in it: a list, or
// what a library says.
const (
	maxQuoted = 60
	maxShown  = 400
)

// quoted returns a value in quotes, shortened.
func quoted(value string) string { return strconv.Quote(shortened(value, maxQuoted)) }

// shortened returns the text, or the first characters of one that is clearly longer.
func shortened(text string, most int) string {
	if len(text) <= most+most/10 {
		return text
	}
	n := 0
	for i := range text {
		if n++; n > most {
			if utf8.RuneCountInString(text[i:]) <= most/10 {
				return text
			}
			return text[:i] + "..."
		}
	}
	return text
}

// sprintf formats a message. Values in quotes are shortened to maxQuoted characters, other texts to
// maxShown.
func sprintf(format string, args []any) string {
	short, arg := slices.Clone(args), 0
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if format[i] == '%' {
			continue
		}
		if text, ok := args[arg].(string); ok && len(text) > maxQuoted {
			most := maxShown
			if format[i] == 'q' {
				most = maxQuoted
			}
			short[arg] = shortened(text, most)
		}
		arg++
	}
	return fmt.Sprintf(format, short...)
}
