package spec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// namedCase is a named scalar Key and a field of it, with § where the one finding of the pair is;
// none without.
type namedCase struct{ scalar, field, says string }

func (c namedCase) text(t *testing.T) string {
	t.Helper()
	text := strings.Replace(base, "type: string, min_length: 1}", c.scalar+"}", 1)
	require.Contains(t, text, "key: {type: Key, hidden: true, optional: true}")
	return strings.Replace(text, "key: {type: Key, hidden: true, optional: true}",
		"key: {type: Key, doc: One., "+c.field+"}", 1)
}

// TestLiteralsMeetTheirNamedScalar: decoders check the constraints of a field and those of its
// named scalar, so both judge its literals.
func TestLiteralsMeetTheirNamedScalar(t *testing.T) {
	t.Parallel()
	for _, c := range []namedCase{
		{"type: int, max: 150", "optional: true, default: §200",
			`default "200" is outside min and max of Key | write 150 or less`},
		{"type: int, min: 10", "optional: true, max: 20, default: §9",
			"outside min and max of Key | write 10 or more"},
		{"type: int, min: 10", "optional: true, max: 20, default: §21",
			"outside min and max | write 20 or less"},
		{"type: float, max: 0.5", "examples: [0.5, §0.6]",
			`example "0.6" is outside min and max of Key | write 0.5 or less`},
		{"type: int", "optional: true, default: §1e30", "not of type Key"},
		{"type: int", "optional: true, default: §9223372036854775808",
			"does not fit into an int of 64 bits"},
		{"type: string, min_length: 3", "optional: true, default: §ab",
			"has a length outside min_length and max_length of Key | write 3 characters or more"},
		{"type: string, max_length: 3", "optional: true, min_length: 2, default: §abcd",
			"max_length of Key | write 3 characters or less"},
		{`type: string, pattern: "^[a-z]+$"`, "optional: true, default: §A1",
			`does not match the pattern of Key | it is ^[a-z]+$`},
		{`type: string, pattern: "^[a-z]+$"`, `optional: true, pattern: "^b", default: §ab`,
			"does not match the pattern | it is ^b"},
		{"type: string, format: email", "optional: true, default: §ann",
			"is not of the format of Key | it is email"},
		{"type: string", "optional: true, format: ipv4, default: §1.2.3",
			"is not of the format | it is ipv4"},
		{"type: time", "optional: true, default: §\"2026-02-30T03:04:05Z\"", "is not a time"},
		{"type: int, max: 150", "optional: true, default: 150, examples: [150, -1]", ""},
		{"type: float, min: 0, max: 1", "optional: true, min: 0.5, default: 0.5", ""},
		{`type: string, pattern: "^[a-z]+$", max_length: 3`,
			`optional: true, min_length: 2, default: äb`, "does not match the pattern of Key"},
		{`type: string, pattern: "^[a-zä]+$", max_length: 2`,
			`optional: true, min_length: 2, default: äb`, ""},
		{"type: string, format: email", "optional: true, default: ann@example.com", ""},
		{"type: string", "optional: true, format: duration, default: nobody checks it", ""},
		{"type: time", "optional: true, default: \"2026-01-02T03:04:05.5+02:00\"", ""},
	} {
		text, at := mark(c.text(t))
		_, findings := spec.Parse("routes.yaml", []byte(text))
		if c.says == "" {
			assert.Empty(t, list(findings), c)
			continue
		}
		require.Len(t, findings, 1, "%v: %s", c, list(findings))
		assert.Equal(t, spec.RuleDefaultType, findings[0].Rule, c)
		if at != "" {
			assert.Equal(t, at, place(findings[0]), c)
		}
		assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
		if strings.Contains(c.says, " of Key |") {
			require.Len(t, findings[0].Related, 1, c)
			assert.Equal(t, 7, findings[0].Related[0].At.Start.Line, c)
			assert.Regexp(t, "^[a-z_]+ of Key is here$", findings[0].Related[0].Message)
		}
	}
}

// TestBoundsMeetThoseOfTheNamedScalar: bounds that leave no value are refused at the field, with
// the place of the other one.
func TestBoundsMeetThoseOfTheNamedScalar(t *testing.T) {
	t.Parallel()
	for _, c := range []namedCase{
		{"type: int, max: 150", "min: §200",
			"no value can meet min 200 and max 150 of Key | write 150 or less, or widen Key"},
		{"type: float, min: 0.5", "max: §0.4", "no value can meet max 0.4 and min 0.5 of Key"},
		{"type: string, max_length: 3", "min_length: §4",
			"no value can meet min_length 4 and max_length 3 of Key"},
		{"type: string, min_length: 3", "max_length: §2",
			"no value can meet max_length 2 and min_length 3 of Key | " +
				"write 3 or more, or widen Key"},
		{"type: int, max: 150", "min: 150", ""},
		{"type: int, min: 1, max: 150", "min: 0, max: 151", ""},
		{"type: string, min_length: 3, max_length: 3", "min_length: 3, max_length: 3", ""},
		// once, where it is wrong
		{"type: int, min: 9, max: §1", "min: 5, max: 6", "no value can meet min 9 and max 1"},
		{"type: int, min: 1, max: 3", "min: 9, max: §8", "no value can meet min 9 and max 8"},
	} {
		text, at := mark(c.text(t))
		_, findings := spec.Parse("routes.yaml", []byte(text))
		if c.says == "" {
			assert.Empty(t, list(findings), c)
			continue
		}
		require.Len(t, findings, 1, "%v: %s", c, list(findings))
		assert.Equal(t, spec.RuleConstraintRange, findings[0].Rule, c)
		assert.Equal(t, at, place(findings[0]), c)
		assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
		require.Len(t, findings[0].Related, 1, c)
		assert.Contains(t, findings[0].Related[0].Message, "is here", c)
	}
}

// TestDefaultsOfRequiredFields: they are refused wherever decoders would never use them, and only
// there.
func TestDefaultsOfRequiredFields(t *testing.T) {
	t.Parallel()
	for _, c := range []oneChange{
		{spec.RuleDefaultRequired, "max: 9, default: 3, optional: true}", "max: 9, default: §3}",
			`field "count" is required, so its default is never used | add optional: true, or remove the default`},
		{spec.RuleDefaultRequired, "reason: {type: string, doc: Why.}",
			"reason: {type: string, doc: Why., default: §why}", `field "reason" is required`},
		{spec.RuleDefaultRequired, "phase: {type: string, doc: Where it stands.}",
			"phase: {type: string, doc: Where it stands., default: §first}",
			`field "phase" is required`},
		{spec.RuleDefaultRequired, "text: {type: string, doc: In words.}",
			"text: {type: string, doc: In words., default: §none}", `field "text" is required`},
	} {
		c.run(t)
	}
	const flows = `version: 1
go: {package: bank, out: generated/bank}
actions:
  pay:
    doc: Pays.
    inputs: {amount: {type: int, doc: How much., default: 5}}
    outputs: {number: {type: int, doc: Its number., optional: true, default: 1}}
flows:
  f:
    doc: Pays.
    slots: {number: {type: int, doc: Of the payment., default: 2}}
    steps: [{step: a, type: action, call: pay}, {step: b, type: say, message: "{number}"}]
`
	_, findings := spec.Parse("routes.yaml", []byte(flows))
	assert.Empty(t, list(findings),
		"an input that is not given, and a slot when its flow begins, have their defaults "+
			"without optional")
	_, findings = spec.Parse("routes.yaml",
		[]byte(strings.Replace(flows, "optional: true, ", "", 1)))
	require.Len(t, findings, 1, list(findings))
	assert.Equal(t, spec.RuleDefaultRequired, findings[0].Rule)
	assert.Equal(t, "/actions/pay/outputs/number/default", findings[0].Path)
}

// judged is a record of one optional field of a named scalar, as generated programs have them.
type judged struct {
	shape *runtime.Shape
	kind  spec.Kind
	inner *runtime.Rule
}

func (r *judged) Shape() *runtime.Shape { return r.shape }

func (r *judged) DecodeField(d *runtime.Decoder, _ string) {
	of := &runtime.Shape{Kind: runtime.ShapeScalar, Fields: []runtime.Field{{Rule: r.inner}}}
	switch r.kind { //nolint:exhaustive // those of named scalars
	case spec.String:
		d.Decode(new(string), of)
	case spec.Int:
		d.Decode(new(int64), of)
	case spec.Float:
		d.Decode(new(float64), of)
	case spec.Bool:
		d.Decode(new(bool), of)
	case spec.Time:
		d.Decode(new(time.Time), of)
	case spec.Duration:
		d.Decode(new(runtime.Duration), of)
	}
}

// ruleOf is what the generator writes for constraints.
func ruleOf(k *spec.Constraints) *runtime.Rule {
	count := func(n *spec.Number) *int {
		if n == nil {
			return nil
		}
		return runtime.Bound(int(n.Value))
	}
	r := &runtime.Rule{MinLength: count(k.MinLength), MaxLength: count(k.MaxLength),
		Format: k.Format.Value}
	if k.Min != nil {
		r.Min = &k.Min.Value
	}
	if k.Max != nil {
		r.Max = &k.Max.Value
	}
	if k.Pattern.Set() {
		r.Pattern = k.Pattern.Value
	}
	return r
}

// someLiterals are values of each kind, on both sides of the constraints that are drawn, and such
// as YAML and JSON read differently.
var someLiterals = map[spec.Kind][]string{
	spec.String: {`""`, "a", "ab", "äöü", "abcdef", `"12"`, "12", "ann@example.com", `"2026-01-02"`,
		"1.2.3.4", "http://x/y", "example.com", `"\u0001"`, "true", `"10:00:00Z"`, "🙂🙂"},
	spec.Int: {"0", "1", "5", "-5", "9", "10", "1e1", "1.0", "1_0", "0x10", "+5",
		"9007199254740993", "9223372036854775807", "9223372036854775808", "1e30", `"5"`, ".5",
		"0b1", "-0"},
	spec.Float: {"0", "1", "0.5", "-0.5", "9.99", "1e1", "1e400", ".inf", ".nan", "1_0.5",
		"9007199254740993", "0x10", "+.5", "5.", `"1"`, "1e-400"},
	spec.Bool: {"true", "false", "True", "yes", `"true"`, "1"},
	spec.Time: {
		`"2026-01-02T03:04:05Z"`, `"2026-01-02T3:04:05Z"`, `"2026-01-02T03:04:05,5Z"`,
		`"2026-01-02t03:04:05z"`, `"2026-02-30T03:04:05Z"`, "tomorrow", "2026-01-02",
		`"2026-01-02T24:00:00Z"`, `"2026-01-02T03:04:05+25:00"`, `"2026-01-02 03:04:05Z"`,
		`"2026-01-02T03:04:60Z"`, `"10000-01-02T03:04:05Z"`,
	},
	spec.Duration: {"90s", "1h30m", "1d", "0", "-5s", `""`, "1.5h", "9999999h", "5"},
}

// TestDefaultsAreJudgedAsDecodersDo compares the checks with the decoder that programs read
// defaults with.
func TestDefaultsAreJudgedAsDecodersDo(t *testing.T) {
	t.Parallel()
	verdicts := map[bool]int{}
	byScalar := 0 // refused for the constraints of the named scalar alone
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]spec.Kind{spec.String, spec.Int, spec.Float, spec.Bool,
			spec.Time, spec.Duration, spec.String, spec.Int}).Draw(t, "kind")
		constraints := []string{""}
		switch kind { //nolint:exhaustive // the others have none
		case spec.String:
			constraints = []string{"", ", min_length: 2", ", max_length: 3",
				`, pattern: "^[a-zäöü]+$"`, ", format: email", ", format: ipv4", ", format: date",
				", format: uri"}
		case spec.Int:
			constraints = []string{"", ", min: 1", ", max: 9", ", min: -9007199254740992, max: 5"}
		case spec.Float:
			constraints = []string{"", ", min: 0.5", ", max: 9.5", ", min: -1e3"}
		}
		draw := rapid.SampledFrom(constraints)
		scalar, own := draw.Draw(t, "scalar"), draw.Draw(t, "field")
		literal := rapid.SampledFrom(someLiterals[kind]).Draw(t, "literal")
		text := strings.Replace(base, "type: string, min_length: 1}",
			"type: "+string(kind)+scalar+"}", 1)
		text = strings.Replace(text, "key: {type: Key, hidden: true, optional: true}",
			"key: {type: Key, hidden: true, optional: true"+own+", default: "+literal+"}", 1)
		s, findings := spec.Parse("routes.yaml", []byte(text))
		accepted, why := true, ""
		for _, f := range findings {
			if f.Rule == spec.RuleDefaultType || f.Rule == spec.RuleScalarKind {
				accepted, why = false, f.Message
			}
		}
		field, named := s.Nodes[0].Request.Fields[1], s.Types[0]
		if field.Default == nil {
			require.False(t, accepted)
			return // it could not be read
		}
		shape := runtime.Shape{Name: "Judged",
			Fields: []runtime.Field{{Name: "key", Rule: ruleOf(&field.Constraints),
				Default: field.Default.JSON()}}}
		rec := &judged{&shape, kind, ruleOf(&named.Constraints)}
		err := runtime.Unmarshal([]byte("{}"), rec)
		if accepted {
			require.NoError(t, err, text)
		}
		if !accepted && (strings.Contains(why, "outside") || strings.Contains(why, "match") ||
			strings.Contains(why, "format")) {
			require.Error(t, err, "%s: %s", literal, why)
			if rec.inner = nil; runtime.Unmarshal([]byte("{}"), rec) == nil {
				byScalar++
			}
		}
		verdicts[accepted]++
	})
	assert.Greater(t, verdicts[true], 10)
	assert.Greater(t, verdicts[false], 10)
	assert.Positive(t, byScalar,
		"a decoder without the rule of the named scalar takes what the spec refuses")
}
