package thread

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/brief"
)

// yesNo is the closed table of whole answers, per language. Any other text is unclear,
// also one that merely contains a yes.
var yesNo = map[string][2][]string{
	"en": {
		{"yes", "y", "yeah", "yep", "sure", "ok", "okay", "true", "confirm", "confirmed", "approve",
			"approved", "go ahead", "please do", "correct"},
		{"no", "n", "nope", "false", "deny", "denied", "reject", "rejected", "cancel", "don't",
			"dont", "do not", "no way", "not really", "never", "stop"},
	},
	"de": {
		{"ja", "j", "jawohl", "klar", "gerne", "einverstanden", "stimmt", "richtig", "ok", "okay"},
		{"nein", "n", "nö", "nee", "nicht", "auf keinen fall", "lieber nicht", "falsch",
			"abbrechen", "stopp"},
	},
	"nl": {
		{"ja", "j", "jazeker", "zeker", "akkoord", "klopt", "graag", "ok", "oke", "oké"},
		{"nee", "n", "neen", "liever niet", "niet", "absoluut niet", "annuleer", "annuleren",
			"stop"},
	},
	"fr": {
		{"oui", "o", "d'accord", "bien sûr", "ok", "exact", "correct", "volontiers"},
		{"non", "n", "pas vraiment", "surtout pas", "annuler", "jamais", "faux", "stop"},
	},
	"es": {
		{"sí", "si", "s", "claro", "de acuerdo", "vale", "correcto", "ok"},
		{"no", "n", "para nada", "de ninguna manera", "cancelar", "nunca", "falso"},
	},
	"it": {
		{"sì", "si", "s", "certo", "va bene", "d'accordo", "esatto", "ok"},
		{"no", "n", "per niente", "assolutamente no", "annulla", "mai", "falso"},
	},
}

// YesNo reads a whole answer in a language (a tag such as "en" or "nl-BE"; "" is English). known is
// false for what the table of that language does not hold, and for a language without a table; yes
// is false then and means nothing.
func YesNo(text, language string) (yes, known bool) {
	said := strings.ReplaceAll(trimmed(text), "’", "'")
	table := yesNo[tableOf(language)]
	switch {
	case slices.Contains(table[0], said):
		return true, true
	case slices.Contains(table[1], said):
		return false, true
	}
	return false, false
}

// tableOf returns under which key the words of a language are, if they are known.
func tableOf(language string) string {
	primary, _, _ := strings.Cut(strings.ToLower(language), "-")
	return cmp.Or(primary, "en")
}

// parseText turns plain text into the answer's JSON, or says why it cannot.
func (i *Interrupt) parseText(text string) (value json.RawMessage, unclear string) {
	switch i.Plain {
	case PlainText:
		value, _ = runtime.Encode(text) // cannot fail: a string
		return value, ""
	case PlainYesNo:
		yes, known := YesNo(text, i.Language)
		if !known {
			return nil, fmt.Sprintf("%q is neither a clear yes nor a clear no", brief.Shorten(text))
		}
		return json.RawMessage(strconv.FormatBool(yes)), ""
	default: // PlainChoice, and the engine's own questions
		return i.parseChoice(text)
	}
}

// parseChoice finds the one choice that a text names: by its label, its value or its number.
func (i *Interrupt) parseChoice(text string) (value json.RawMessage, unclear string) {
	said := trimmed(text)
	var labels []string
	var found []json.RawMessage
	for n, c := range i.Choices {
		labels = append(labels, c.Label)
		if said == trimmed(c.Label) || said == trimmed(strings.Trim(string(c.Value), `"`)) ||
			said == strconv.Itoa(n+1) {
			found = append(found, c.Value)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1:
		return nil, fmt.Sprintf("%q names %d choices: %s", brief.Shorten(text), len(found),
			strings.Join(labels, ", "))
	}
	return nil, fmt.Sprintf("%q is not one of %s", brief.Shorten(text), strings.Join(labels, ", "))
}
