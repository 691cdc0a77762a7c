package runtime

import (
	"strings"
	"time"
)

// Duration is a time.Duration whose text form is "1h30m", on the wire and in a spec.
type Duration time.Duration

// String returns the shortest Go form: "1h30m", "90ms", "0s".
func (v Duration) String() string {
	text := time.Duration(v).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText returns String. It never fails.
func (v Duration) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the form of time.ParseDuration and refuses anything else with [CodeInvalid].
func (v *Duration) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return Errorf(CodeInvalid, "parse duration", "%q is not a duration: write it like 1h30m",
			text)
	}
	*v = Duration(d)
	return nil
}
