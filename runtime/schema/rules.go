package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// limit is the most that a sum over the schemas of a document may be. A limit of 0 is no rule of
// the provider.
type limit struct {
	rule string
	most int
}

// advice says what is wrong, why, and what to do. A rule fills in what breaks it and the dialect, a
// limit the sum and the most.
var advice = map[string]string{
	"dangling_ref": "$ref %s leads nowhere in this %s schema: write #/$defs/Name and put that " +
		"definition into the document",
	"unused_def": "definition %s is not reached from the root of this %s schema and only " +
		"costs tokens: remove it",
	"keyword": "%s is not taken by %s: say it in the description, the decoder checks it",
	"closed_object": "any %s may stand here, and %s takes closed objects only: give it a type, " +
		"forbid other keys, write a map as a list",
	"root_object": "the root is %s, and %s takes only an object there: wrap it in one with a " +
		"single property",
	"all_required": "this property is %s, and %s takes only required ones: require it and " +
		"allow null",
	"enum_size": "an enum of many values holds %s characters, too much for %s: shorten the " +
		"values or make it a string",
	"first_key": "two objects of this union start with the key %s, and %s tells them apart " +
		"by it: begin each with its own",
	"recursion": "$ref %s leads back to where it came from, and %s takes no recursion: hide " +
		"the field or bound the depth by records",
	"enum_case": "enum value %s differs from another only in case, which %s does not keep: " +
		"rename one",
	"ref_siblings": "$ref %s has a key beside it, and %s takes none there: move it into the " +
		"definition",
	"required_cycle": "$ref %s leads back through required properties only, and %s cannot end " +
		"that: make one of them optional",

	"properties_total": "%d object properties in all, and openai takes %d: hide fields or narrow " +
		"to fewer routes",
	"nesting": "objects nest %d levels deep, and openai takes %d: flatten the records",
	"string_size": "%d characters in names of properties and definitions and in enum and " +
		"const values, and openai takes %d: shorten them",
	"enum_values": "%d enum values in all, and openai takes %d: make the largest enum a string",
	"optional_total": "%d optional properties, and anthropic takes %d in all strict schemas of " +
		"a request: require or hide some",
	"union_total": "%d union types, and anthropic takes %d in all strict schemas of a " +
		"request: require or hide some",
	"bounds_total": "%d bounds on numbers and lists, and only %d are sure to be served: say " +
		"them if gemini answers \"too many states\"",
	"large_enums": "%d large enums, and only %d are sure to be served: make them strings if " +
		"gemini answers \"too many states\"",
}

// breaks reports whether n breaks a rule, and what does.
func (l *linter) breaks(rule string, n lintNode) (string, bool) {
	ref := n.Get("$ref")
	name, ok := l.refTarget(n.Value)
	switch rule {
	case "dangling_ref":
		return ref.textOrEmpty(), ref != nil && !ok
	case "unused_def":
		_, reached := l.all.depths[n.def]
		return n.def, !reached
	case "keyword":
		bad := slices.DeleteFunc(slices.Clone(n.Members), func(m Member) bool {
			return l.takes(m.Key, m.Value)
		})
		return newObject(bad...).String(), len(bad) > 0
	case "closed_object":
		rest := n.Get("additionalProperties")
		return "other JSON", isAny(n.Value) || isObject(n.Value) && rest.textOrEmpty() != "false"
	case "root_object":
		return "a union or a reference", n.at == "" && (n.Get("anyOf") != nil || !isObject(n.Value))
	case "all_required":
		return "optional", n.optional
	case "enum_size":
		size := runes(itemTexts(n.Get("enum")))
		return strconv.Itoa(size), l.amount("large_enums", n) > 0 && size > enumChars
	case "first_key":
		return l.sharedStart(n.Get("anyOf"))
	case "recursion":
		return name, l.all.back[n.Value]
	case "required_cycle":
		return name, l.forced.back[n.Value]
	case "enum_case":
		return sameButCase(itemTexts(n.Get("enum")))
	case "ref_siblings":
		return name, ref != nil && slices.ContainsFunc(n.Members, func(m Member) bool {
			return !strings.HasPrefix(m.Key, "$")
		})
	}
	return "", false
}

// amount returns what n adds to the sum of a limit.
func (l *linter) amount(rule string, n lintNode) int {
	enum, kind := n.Get("enum").memberList(), n.Get("type")
	switch rule {
	case "properties_total":
		return len(n.Get("properties").memberList())
	case "string_size":
		return runes([]string{n.def}) + runes(itemTexts(keyNames(n.Get("properties")))) +
			runes(fixedValues(n.Value))
	case "enum_values":
		return len(enum)
	case "bounds_total":
		return len(slices.DeleteFunc(itemTexts(keyNames(n.Value)), func(key string) bool {
			return !isBound(key)
		}))
	case "nesting":
		if n.at == "" {
			return l.all.depths[""]
		}
	case "optional_total":
		return countIf(n.optional)
	case "union_total":
		return countIf(n.Get("anyOf") != nil || kind != nil && kind.Kind == Array)
	case "large_enums":
		return countIf(len(enum) > largeEnum)
	}
	return 0
}

// sharedStart finds a key with which two objects of a union start, unless its values tell them
// apart.
func (l *linter) sharedStart(union *Value) (string, bool) {
	met := map[string][]string{}
	for _, branch := range union.memberList() {
		if to, ok := l.refTarget(branch.Value); ok {
			branch.Value = l.defs[to]
		}
		properties := branch.Value.Get("properties").memberList()
		if len(properties) == 0 {
			continue
		}
		first, values := properties[0].Key, fixedValues(properties[0].Value)
		before, again := met[first]
		same := func(v string) bool { return slices.Contains(before, v) }
		if again && (len(before) == 0 || len(values) == 0 || slices.ContainsFunc(values, same)) {
			return first, true
		}
		met[first] = append(before, values...)
	}
	return "", false
}

func sameButCase(values []string) (string, bool) {
	seen := map[string]bool{}
	for _, v := range values {
		if seen[strings.ToLower(v)] {
			return v, true
		}
		seen[strings.ToLower(v)] = true
	}
	return "", false
}

// fixedValues returns the only values that v allows, none where it does not list them.
func fixedValues(v *Value) []string {
	if only := v.Get("const"); only != nil {
		return []string{only.Text}
	}
	return itemTexts(v.Get("enum"))
}

func runes(texts []string) int { return utf8.RuneCountInString(strings.Join(texts, "")) }

func countIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
