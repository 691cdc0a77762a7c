package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// least is a work document with its required fields, and more.
func least(more string) string {
	return `{"goal":"go","secret":"s","level":"LOW","tags":[],"meta":{}` + more + `}`
}

func problems(t *testing.T, err error) []string {
	t.Helper()
	var e *runtime.InvalidError
	require.ErrorAs(t, err, &e)
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.Pointer+" | "+p.Reason)
	}
	return lines
}

func TestUnmarshalReadsEveryKind(t *testing.T) {
	var v work
	doc :=
		` {"goal":"a \"b\" \u00e9\ud83d\ude00 ü\n","secret":"s","level":"PRUNE","slug":"abc","count":-3,"share":0.5,"on":true,
		"at":"2026-01-02T03:04:05.5+02:00","for":"1h30m","raw":{"x":[1,null]},"tags":["a","b"],"slugs":["ab","cd"],"meta":{"k":"v"},
		"leaf":{"path":"p","line":7},"maybe":{"path":"q"},"leaves":[{"path":"1"},{"path":"2"}],"byName":{"x":{"path":"y"}},"explicit":0,
		"link":"https://a.example/b","inner":{"leaf":{"path":"z"}}} `
	require.NoError(t, runtime.Unmarshal([]byte(doc), &v))
	at, err := time.Parse(time.RFC3339Nano, "2026-01-02T03:04:05.5+02:00")
	require.NoError(t, err)
	assert.True(t, at.Equal(v.At))
	zero := int64(0)
	v.At = time.Time{}
	assert.Equal(t, work{
		Goal: "a \"b\" é😀 ü\n", Secret: "s", Level: "PRUNE", Slug: "abc", Count: -3, Share: 0.5,
		On:  true,
		For: runtime.Duration(90 * time.Minute), Raw: json.RawMessage(`{"x":[1,null]}`),
		Tags: []string{"a", "b"}, Slugs: []slug{"ab", "cd"},
		Meta: map[string]string{"k": "v"}, Leaf: leaf{Path: "p", Line: 7}, Maybe: &leaf{Path: "q"},
		Leaves: []leaf{{Path: "1"}, {Path: "2"}}, ByName: map[string]leaf{"x": {Path: "y"}},
		Explicit: &zero,
		Link:     "https://a.example/b", Inner: &choice{Leaf: &leaf{Path: "z"}},
	}, v)
}

func TestUnmarshalThroughEncodingJSON(t *testing.T) {
	var v []work
	require.NoError(t, json.Unmarshal([]byte("["+least("")+"]"), &v))
	assert.Equal(t, "go", v[0].Goal)
	err := json.Unmarshal([]byte(`[{"Goal":"x"}]`), &v)
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestEncodedRecordIsRead(t *testing.T) {
	v := work{Goal: "g<&>o", Secret: "s", Level: "LOW"} // nil list and map become null
	b, err := runtime.Encode(v)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"g<&>o"`)
	assert.Contains(t, string(b), `"tags":null`)
	var back work
	require.NoError(t, runtime.Unmarshal(b, &back))
	assert.Equal(t, v, back)
}

func TestRefusals(t *testing.T) {
	deep := strings.Repeat("[", 64)
	for _, c := range []struct {
		name, doc string
		want      []string
	}{
		{"empty", "", []string{" | is empty: expected an object"}},
		{"byte order mark", "\xef\xbb\xbf{}",
			[]string{" | starts with a byte order mark: remove it"}},
		{"invalid UTF-8", "{\"goal\":\"\xff\"}",
			[]string{" | is not UTF-8: encode the text as UTF-8"}},
		{"not an object", `[1]`, []string{" | expected an object, found an array"}},
		{"null", `null`, []string{" | is required, found null: give an object"}},
		{"trailing data", least("") + " {}",
			[]string{" | expected nothing more after the value at byte 61, found '{'"}},
		{"trailing NUL", least("") + "\x00",
			[]string{" | expected nothing more after the value at byte 60, found '\\x00'"}},
		{"open", `{"goal":"go"`, []string{" | ends too early: expected a comma or '}'"}},
		{"no colon", `{"goal" "go"}`,
			[]string{" | expected a colon after the key at byte 8, found '\"'"}},
		{"comma at the end", `{"goal":"go",}`,
			[]string{" | expected a key in quotes at byte 13, found '}'"}},
		{"comma in list", least(`,"slugs":["ab",]`),
			[]string{"/slugs/1 | expected a string at byte 74, found ']'"}},
		{"bad literal", least(`,"on":trux`),
			[]string{"/on | expected a value at byte 65, found 't'"}},
		{"longer literal", least(`,"on":truex`),
			[]string{" | expected a comma or '}' at byte 69, found 'x'"}},
		{"leading zero", least(`,"count":01`),
			[]string{"/count | expected a number without leading zeros at byte 68, found '0'"}},
		{"bare point", least(`,"share":1.`),
			[]string{"/share | expected a number with digits after the point at byte 68, found " +
				"'1'"}},
		{"bare exponent", least(`,"share":1e+`),
			[]string{"/share | expected a number with digits in its exponent at byte 68, found " +
				"'1'"}},
		{"control character", "{\"goal\":\"a\nb\"}",
			[]string{"/goal | has the control character U+000A in a string at byte 10: escape it"}},
		{"control after escape", "{\"goal\":\"\\n\nb\"}",
			[]string{"/goal | has the control character U+000A in a string at byte 11: escape it"}},
		{"open string", `{"goal":"ab`,
			[]string{"/goal | has a string that is not closed, from byte 8 on"}},
		{"open escape", `{"goal":"ab\`, []string{"/goal | has an unknown escape at byte 11"}},
		{"unknown escape", `{"goal":"\x"}`, []string{"/goal | has an unknown escape at byte 9"}},
		{"lone surrogate", strings.Replace(least(""), `"go"`, `"\ud800go"`, 1),
			[]string{"/goal | holds a lone surrogate, half a character: remove it"}},
		{"two high surrogates", strings.Replace(least(""), `"go"`, `"\ud800\ud800"`, 1),
			[]string{"/goal | holds a lone surrogate, half a character: remove it"}},
		{"NUL", strings.Replace(least(""), `"go"`, `"g\u0000o"`, 1),
			[]string{`/goal | holds the character \u0000: remove it`}},
		{"NUL in key", `{"a\u0000":1}`,
			[]string{` | has a key that holds the character \u0000: remove it`}},
		{"too deep", least(`,"raw":` + deep),
			[]string{"/raw" + strings.Repeat("/0", 63) + " | is nested deeper than 64"}},
		{"duplicate key", least(`,"goal":"x y"`), []string{"/goal | is there twice: keep one"}},
		{"duplicate key, escaped", least(`,"go\u0061l":"x y"`),
			[]string{"/goal | is there twice: keep one"}},
		{"duplicate in free JSON", least(`,"raw":{"a":1,"a":2}`),
			[]string{"/raw/a | is there twice: keep one"}},
		{"duplicate in map", strings.Replace(least(""), `{}`, `{"a":"1","a":"2"}`, 1),
			[]string{"/meta/a | is there twice: keep one"}},
		{"case variant", least(`,"Link":"x"`),
			[]string{`/Link | unknown key of Work: did you mean "link"?`}},
		{"misspelt", least(`,"exlicit":1`),
			[]string{`/exlicit | unknown key of Work: did you mean "explicit"?`}},
		{"unknown", `{"leaf":{"path":"x","zzzzzzzz":[]}}`, []string{
			"/leaf/zzzzzzzz | unknown key of Leaf: use path, line",
			"/goal | is required and missing", "/secret | is required and missing",
			"/level | is required and missing", "/tags | is required and missing",
			"/meta | is required and missing"}},
		{"pointer escapes", strings.Replace(least(""), `{}`, `{"a/b~c":1}`, 1),
			[]string{"/meta/a~1b~0c | expected a string, found a number"}},
		{"null for required", strings.Replace(least(""), `"go"`, `null`, 1),
			[]string{"/goal | is required, found null: give a string"}},
		{"null in list", least(`,"slugs":[null]`),
			[]string{"/slugs/0 | is required, found null: give a string"}},
		{"wrong types",
			least(
				`,"on":1,"count":"1","share":true,"at":5,"for":[],"leaf":"x","maybe":[{"a":[1]}],"leaves":{}`), []string{
				"/on | expected true or false, found a number",
				"/count | expected an integer, found a string",
				"/share | expected a number, found a boolean",
				"/at | expected a time like 2006-01-02T15:04:05Z, found a number",
				"/for | expected a duration like 1h30m, found an array",
				"/leaf | expected an object, found a string",
				"/maybe | expected an object, found an array",
				"/leaves | expected an array, found an object"}},
		{"texts", least(`,"at":"2026-13-01T00:00:00Z","for":"1 hour","link":"no scheme"`), []string{
			"/at | is not a time: write it like 2006-01-02T15:04:05Z",
			"/for | is not a duration: write it like 1h30m",
			`/link | "no scheme" is not of the format uri`}},
		{"enum", strings.Replace(least(""), "LOW", "LOWW", 1),
			[]string{`/level | unknown value "LOWW": did you mean "LOW"?`}},
		{"enum by case", strings.Replace(least(""), "LOW", "low", 1),
			[]string{`/level | unknown value "low": did you mean "LOW"?`}},
		{"enum far off", strings.Replace(least(""), "LOW", "banana", 1),
			[]string{`/level | unknown value "banana": use one of LOW, HIGH, PRUNE`}},
		{"rules",
			`{"goal":"é","secret":"","level":"LOW","slug":"ABCDE","count":-6,"share":1.5,"tags":["","","",""],"slugs":["a"],"meta":{"a":"","b":"","c":""}}`, []string{
				"/goal | has 1 characters: at least 2 are needed",
				"/slug | has 5 characters: at most 4 are allowed",
				"/slug | does not match the pattern ^[a-z]+$",
				"/count | is -6: at least -5 is needed",
				"/share | is 1.5: at most 1 is allowed",
				"/tags | has 4 elements: at most 3 are allowed",
				"/slugs/0 | has 1 characters: at least 2 are needed",
				"/meta | has 3 elements: at most 2 are allowed"}},
		{"union inside", least(`,"inner":{}`),
			[]string{"/inner | Choice has no branch set: set exactly one of work, leaf, other"}},
		{"map array on the wire", strings.Replace(least(""), `{}`, `[]`, 1),
			[]string{"/meta | expected an object, found an array"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := runtime.Unmarshal([]byte(c.doc), new(work))
			require.Error(t, err)
			assert.Equal(t, c.want, problems(t, err))
		})
	}
}

func TestIntegers(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "7": 7, "1.0": 1, "1e2": 100, "1.5E1": 15, "-20e-1": -2,
		"0e99999999999999999999": 0, "0.000": 0, "0.5e1": 5,
		"100000000000000000e1": 1000000000000000000, "12300e-2": 123,
	} {
		var v work
		if err := runtime.Unmarshal([]byte(least(`,"count":`+text)), &v); want < -5 {
			assert.Error(t, err, text)
		} else {
			require.NoError(t, err, text)
			assert.Equal(t, want, v.Count, text)
		}
	}
	for text, reason := range map[string]string{
		"1.5": "expected an integer, found 1.5", "1e-1": "expected an integer, found 1e-1",
		"1e400":                   "does not fit into an integer of 64 bits",
		"9223372036854775808":     "does not fit into an integer of 64 bits",
		"-9223372036854775809":    "does not fit into an integer of 64 bits",
		"9.3e18":                  "does not fit into an integer of 64 bits",
		"1e99999999999999999999":  "does not fit into an integer of 64 bits",
		"1e-99999999999999999999": "expected an integer, found 1e-99999999999999999999",
	} {
		err := runtime.Unmarshal([]byte(least(`,"count":`+text)), new(work))
		assert.Equal(t, []string{"/count | " + reason}, problems(t, err), text)
	}
	var v leaf
	require.NoError(t, runtime.Unmarshal([]byte(`{"path":"","line":-9223372036854775808}`), &v))
	assert.Equal(t, int64(-1<<63), v.Line)
	err := runtime.Unmarshal([]byte(least(`,"share":1e400`)), new(work))
	assert.Equal(t, []string{"/share | is too large for a number of 64 bits"}, problems(t, err))
}

func TestAtMostTwentyProblems(t *testing.T) {
	err := runtime.Unmarshal([]byte(least(`,"slugs":[`+strings.Repeat(`1,`, 40)+`1]`)), new(work))
	assert.Len(t, problems(t, err), 20)
	err = runtime.Unmarshal([]byte(least(`,"slugs":[`+strings.Repeat(`1,`, 40)+`1],"x":1`)),
		new(work))
	assert.Len(t, problems(t, err), 20)
}

func TestNullOnTheWireAndFromAModel(t *testing.T) {
	doc :=
		`{"goal":"go","secret":"s","level":"LOW","tags":null,"meta":null,"maybe":null,"count":null,"raw":null}`
	var v work
	require.NoError(t, runtime.Unmarshal([]byte(doc), &v))
	assert.Equal(t, work{Goal: "go", Secret: "s", Level: "LOW"}, v)
	doc = `{"goal":"go","level":null,"tags":null,"meta":null,"maybe":null,"count":null}`
	assert.Equal(t, []string{
		"/level | is required, found null: give a string",
		"/tags | is required, found null: give an array",
		"/meta | is required, found null: give an object",
	}, problems(t, runtime.DecodeReply([]byte(doc), new(work), nil)))
}

func TestReplyIsReadAsAModelWritesIt(t *testing.T) {
	doc :=
		`{"goal":"go","level":"low","tags":[],"meta":[{"key":"a","value":"1"},{"value":"2","key":"b"}],"byName":[{"key":"x","value":{"path":"p"}}]}`
	var v work
	require.NoError(t, runtime.DecodeReply([]byte(doc), &v, nil))
	assert.Equal(t, work{Goal: "go", Level: "LOW", Tags: []string{},
		Meta:   map[string]string{"a": "1", "b": "2"},
		ByName: map[string]leaf{"x": {Path: "p"}}}, v)
	for doc, want := range map[string][]string{
		`{"goal":"go","secret":null,"level":"prune","tags":[],"meta":{}}`: {
			"/secret | must not be given here: leave it out",
			`/level | unknown value "prune": use one of LOW, HIGH`},
		`{"goal":"go","level":"LOW","tags":[],"meta":[{"key":"a","value":"1"},{"key":"a","value":"2"}]}`: {"/meta/a | is there twice: keep one"},
		`{"goal":"go","level":"LOW","tags":[],"meta":[{"key":"a"},{"value":"1","kez":""},7]}`: {
			"/meta/0/value | is required and missing",
			`/meta/1/kez | unknown key of entry: did you mean "key"?`,
			"/meta/1/key | is required and missing",
			"/meta/2 | expected an object, found a number"},
		`{"route":{"goal":"go"}}`: {
			"/route | unknown key of Work: use goal, level, slug, count, share, on, at, for, " +
				"raw, tags, slugs, meta, leaf, maybe, leaves, byName, explicit, link, inner",
			"/goal | is required and missing", "/level | is required and missing",
			"/tags | is required and missing", "/meta | is required and missing"},
	} {
		assert.Equal(t, want, problems(t, runtime.DecodeReply([]byte(doc), new(work), nil)), doc)
	}
}

func TestUnions(t *testing.T) {
	notOther := func(name string) bool { return name != "other" }
	for _, c := range []struct {
		doc         string
		reply       bool
		code        runtime.Code
		set, permit []string
		problems    []string
	}{
		{doc: `{"leaf":{"path":"p"}}`},
		{doc: `{"leaf":{"path":"p"},"work":null}`},
		{doc: `{"leaf":{"path":"p"}}`, reply: true},
		{doc: `{"route":{"leaf":{"path":"p"},"other":null}}`, reply: true},
		{doc: `{}`, code: runtime.CodeNoRoute, permit: []string{"work", "leaf", "other"}},
		{doc: `{"route":{}}`, reply: true, code: runtime.CodeNoRoute,
			permit: []string{"work", "leaf"}},
		{doc: `{"leaf":null}`, code: runtime.CodeNoRoute,
			permit: []string{"work", "leaf", "other"}},
		{doc: `{"other":{"path":"p"},"leaf":5}`, code: runtime.CodeManyRoutes,
			set: []string{"leaf", "other"}, permit: []string{"work", "leaf", "other"}},
		{doc: `{"other":{}}`, reply: true, code: runtime.CodeNoRoute, set: []string{"other"},
			permit: []string{"work", "leaf"}},
		{doc: `{"other":{"x":1}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{"/other/x | unknown key of Leaf: use path, line",
				"/other/path | is required and missing"}},
		{doc: `{"leaf":{}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{"/leaf/path | is required and missing"}},
		{doc: `{"route":{"leaf":{}}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{"/route/leaf/path | is required and missing"}},
		{doc: `{"route":{"leaf":{"path":""}},"work":{}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{`/work | "route" must be the only key beside the branches it wraps`}},
		{doc: `{"work":null,"route":{"leaf":{"path":""}}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{`/route | "route" wraps a whole reply and must be its only key`}},
		{doc: `{"route":null}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{"/route | is required, found null: give an object"}},
		{doc: `{"route":{"leaf":{"path":""}}}`, code: runtime.CodeInvalid,
			problems: []string{`/route | "route" is the wrapper of models' replies: write the branch without it`}},
		{doc: `{"leaf":{"path":""},"route":{}}`, code: runtime.CodeInvalid,
			problems: []string{`/route | "route" is the wrapper of models' replies: write the branch without it`}},
		{doc: `{"route":{"route":{"leaf":{"path":""}}}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{`/route/route | "route" is the wrapper of models' replies: write the branch without it`}},
		{doc: `{"Leaf":{"path":""}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{`/Leaf | unknown key of Choice: did you mean "leaf"?`}},
		{doc: `{"leaf":{"path":""},"leaf":{"path":""}}`, reply: true, code: runtime.CodeInvalid,
			problems: []string{"/leaf | is there twice: keep one"}},
		{doc: `"leaf"`, reply: true, code: runtime.CodeInvalid,
			problems: []string{" | expected an object, found a string"}},
	} {
		t.Run(fmt.Sprint(c.reply, c.doc), func(t *testing.T) {
			var v choice
			err := runtime.Unmarshal([]byte(c.doc), &v)
			if c.reply {
				v = choice{}
				err = runtime.DecodeReply([]byte(c.doc), &v, notOther)
			}
			require.Equal(t, c.code, runtime.CodeOf(err), "%v", err)
			switch {
			case c.code == "":
				branch, err := v.Selected()
				require.NoError(t, err)
				assert.Equal(t, runtime.Branch{Name: "leaf", Value: &leaf{Path: "p"}}, branch)
			case c.problems != nil:
				assert.Equal(t, c.problems, problems(t, err))
			default:
				var e *runtime.SelectionError
				require.ErrorAs(t, err, &e)
				assert.Equal(t, runtime.SelectionError{Routing: "Choice", Set: c.set,
					Allowed: c.permit}, *e)
			}
		})
	}
}

func TestTagged(t *testing.T) {
	into := func(name string) runtime.Record {
		switch name {
		case "Leaf":
			return new(leaf)
		case "Choice":
			return new(choice)
		}
		return nil
	}
	b, err := runtime.EncodeTagged(&leaf{Path: "<p>", Line: 3})
	require.NoError(t, err)
	assert.Equal(t, `{"Leaf":{"path":"<p>","line":3}}`, string(b))
	v, err := runtime.DecodeTagged(b, into)
	require.NoError(t, err)
	assert.Equal(t, &leaf{Path: "<p>", Line: 3}, v)
	for doc, want := range map[string][]string{
		`{}`: {` | no type name: write {"TypeName": {...}}`},
		`{"Leav":{}}`: {"/Leav | unknown type: use the name of a type that is " +
			"declared for this place"},
		`{"Leaf":{}}`:                 {"/Leaf/path | is required and missing"},
		`{"Leaf":{"path":""},"A":{}}`: {"/A | only one type name is allowed"},
		`{"Leaf":{"path":""}} 1`: {" | expected nothing more after the value at byte 21, " +
			"found '1'"},
		`{"Choice":{}}`: {"/Choice | Choice has no branch set: set exactly one of " +
			"work, leaf, other"},
		`[]`: {" | expected an object with a type name as its one key, " +
			"found an array"},
		``: {" | is empty: expected an object"},
	} {
		v, err := runtime.DecodeTagged([]byte(doc), into)
		assert.Nil(t, v, doc)
		assert.Equal(t, want, problems(t, err), doc)
	}
	_, err = runtime.EncodeTagged(nil)
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

// wide is a union of very many branches.
type wide struct {
	shape *runtime.Shape
	set   []string
}

func (v *wide) Shape() *runtime.Shape { return v.shape }
func (v *wide) DecodeField(d *runtime.Decoder, name string) {
	var l leaf
	d.Decode(&l, nil)
	v.set = append(v.set, name)
}

func TestWideUnionAtTheSameTime(t *testing.T) {
	s := &runtime.Shape{Name: "Wide", Kind: runtime.ShapeUnion}
	for i := range 14000 {
		s.Fields = append(s.Fields, runtime.Field{Name: fmt.Sprintf("branch%dRequest", i)})
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			v := wide{shape: s}
			assert.NoError(t, runtime.Unmarshal([]byte(`{"branch13999Request":{"path":"p"}}`), &v))
			assert.Equal(t, []string{"branch13999Request"}, v.set)
			err := runtime.Unmarshal(
				[]byte(`{"branch1Request":{"path":"p"},"branch1Request":{"path":"p"}}`),
				&wide{shape: s})
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
			err = runtime.Unmarshal([]byte(`{}`), &wide{shape: s})
			var e *runtime.SelectionError
			if assert.ErrorAs(t, err, &e) {
				assert.Len(t, e.Allowed, 14000)
				assert.Less(t, len(err.Error()), 1000)
			}
		})
	}
	wg.Wait()
}
