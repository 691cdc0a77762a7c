package runtime

import "github.com/routegen/routegen/runtime/internal/brief"

// Dialect is the variant of JSON Schema that a schema is written in.
type Dialect uint8

// The dialects. Plain is JSON Schema 2020-12 as it stands; the others are what each provider
// accepts for structured output.
const (
	Plain Dialect = iota
	OpenAI
	Anthropic
	Gemini
)

var dialectNames = [...]string{"plain", "openai", "anthropic", "gemini"}

// Dialects returns all dialects, Plain first. The slice is the caller's.
func Dialects() []Dialect { return []Dialect{Plain, OpenAI, Anthropic, Gemini} }

// String returns the name of the dialect in lower case, "" for an unknown one.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return ""
}

// ParseDialect reads a name that String returns. Anything else is refused with [CodeInvalid] and
// the nearest name.
func ParseDialect(text string) (Dialect, error) {
	for i, name := range dialectNames {
		if name == text {
			return Dialect(i), nil
		}
	}
	return 0, Errorf(CodeInvalid, "parse dialect", "unknown dialect %q%s", text,
		brief.Suggest(text, dialectNames[:]))
}
