package spec

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/mod/module"

	"github.com/routegen/routegen/runtime"
)

// class is what a string of the spec is for. It says which strings are valid.
type class uint8

const (
	classAny      class = iota // checked later, or free
	classProse                 // for people, any number of lines
	classLine                  // for people, one line
	classAssignee              // a person, or a group after its prefix
	classWords                 // of flows, checked later
	classMember
	classNode
	classBranch
	classType
	classKind
	classValue
	classJSON
	classGo
	classAgentType
	classMark
	classTool
	classDuration
	classPackage
	classOut
	classGoType
	classFile
	classTemplate
	classPattern
	classTypeExpr
	classLanguage
	classSnake
)

// charset is the characters of names of a class: ranges of the first character and of the rest.
type charset struct {
	what, first, rest string
	most              int
}

// isForPeople reports whether a class is of texts that people read.
func (c class) isForPeople() bool {
	return c == classProse || c == classLine || c == classWords || c == classAssignee
}

const (
	lower = "az"
	upper = "AZ"
	alnum = "azAZ09"
)

// charset returns false for classes that are not names.
func (c class) charset() (charset, bool) {
	switch c {
	case classMember:
		return charset{"a field key", lower, alnum, 64}, true
	case classNode:
		return charset{"a node key", lower, alnum + "__", 64}, true
	case classBranch:
		return charset{"a branch key", lower, alnum + "__", 64}, true
	case classType:
		return charset{"a type name", upper, alnum, 64}, true
	case classKind:
		return charset{"a kind or slot key", lower, "az09__", 64}, true
	case classSnake:
		return charset{"a name of flows", lower, "az09__", 64}, true
	case classValue:
		return charset{"an enum value", alnum, alnum + "__--..::++//", 200}, true
	case classJSON:
		return charset{"a JSON name", alnum + "__$$@@", alnum + "__$$@@--..::", 200}, true
	case classGo:
		return charset{"an exported Go name", upper, alnum + "__", 200}, true
	case classAgentType:
		return charset{"an agent type", upper, "AZ09__", 200}, true
	case classLanguage:
		return charset{"a language", lower, alnum + "--", 35}, true
	case classMark, classTool:
		return charset{"a word", alnum, alnum + "__--..", 200}, true
	default:
		return charset{}, false
	}
}

// maxPattern bounds patterns, and the texts they are tried on.
const maxPattern = 1000

func within(c rune, ranges string) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if c >= rune(ranges[i]) && c <= rune(ranges[i+1]) {
			return true
		}
	}
	return false
}

// regexp returns the class as a regular expression, or "" if it has none.
func (c class) regexp() string {
	set, ok := c.charset()
	if !ok {
		return ""
	}
	ranges := func(s string) string {
		var out strings.Builder
		for i := 0; i+1 < len(s); i += 2 {
			if s[i] == s[i+1] {
				out.WriteString(`\` + s[i:i+1])
			} else {
				out.WriteString(s[i:i+1] + "-" + s[i+1:i+2])
			}
		}
		return "[" + strings.ReplaceAll(out.String(), `\_`, "_") + "]"
	}
	return "^" + ranges(set.first) + ranges(set.rest) + "{0," + strconv.Itoa(set.most-1) + "}$"
}

// checkClass reports a string that its class does not allow.
func (r *reader) checkClass(c class, t Text) {
	if set, ok := c.charset(); ok {
		if r.checkReserved(c, t) && r.checkCharset(c, set, t) && isDevice(t.Value) &&
			(c == classType || c == classNode) {
			r.report(RuleNameFileReserved, t.At, "choose another name",
				"%q is a device name on Windows; no file can be called so", t.Value)
		}
		return
	}
	switch c {
	case classProse:
		if strings.Contains(t.Value, "*/") {
			r.report(RuleTextComment, t.At, "write it without */",
				"the text holds */, which ends a Go comment")
		}
	case classLine:
		if strings.ContainsAny(t.Value, "\n") || strings.TrimSpace(t.Value) == "" {
			r.report(RuleValue, t.At, "write one line", "the text must be one line and not empty")
		}
	case classAssignee:
		if why, hint := assigneeFault(t.Value); why != "" {
			r.report(RuleAssignee, t.At, hint, "%q %s", t.Value, why)
		}
	case classDuration:
		if d, err := time.ParseDuration(t.Value); err != nil || d <= 0 {
			r.report(RuleDuration, t.At, "write it like 90s, 15m or 24h",
				"%q is not a duration above zero", t.Value)
		}
	case classPattern:
		if len(t.Value) > maxPattern {
			r.report(RuleConstraintPattern, t.At, "check it in code",
				"a pattern has at most %d bytes", maxPattern)
		} else if _, err := regexp.Compile(t.Value); err != nil {
			r.report(RuleConstraintPattern, t.At,
				"the syntax is Go's RE2: no look-around, no back-references",
				"the pattern does not compile: %s",
				strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	case classPackage:
		r.checkPackage(t)
	case classOut:
		if why := outFault(t.Value); why != "" {
			r.report(RuleOutInvalid, t.At,
				"name a folder below the spec's own, such as generated/routes", "go.out %q %s",
				t.Value, why)
		}
	case classGoType:
		r.checkGoType(t)
	case classFile:
		if why := fileFault(t.Value); why != "" {
			r.report(RuleIncludePath, t.At, "name a file of the folder of the spec, or below it",
				"%q %s", t.Value, why)
		}
	case classTemplate:
		if isOutside(t.Value) || path.Clean(t.Value) != t.Value {
			r.report(RuleRefOutside, t.At, "name it relative to the templates folder",
				"template %q is not a plain relative name", t.Value)
		}
	default: // any text is valid, or another pass checks it
	}
}

// maxAssignee is the longest name, in bytes, that a history takes.
const maxAssignee = 200

// assigneeFault returns why a text names no person and no group that could answer, and what to
// write, or "".
func assigneeFault(name string) (why, hint string) {
	const group = runtime.GroupPrefix
	bare := strings.TrimPrefix(name, group)
	like := strings.ToLower(strings.ReplaceAll(name, " ", ""))
	switch {
	case strings.TrimSpace(bare) == "":
		return "names no person and no group", "write ann for a person, group:finance for a group"
	case strings.TrimSpace(bare) != bare || strings.TrimSpace(name) != name:
		return "has a space before or after the name: it would be part of it", "take it out"
	case name == bare && strings.HasPrefix(like, group):
		return "is the name of a person, and looks like a group",
			"write " + group + strings.TrimSpace(name[strings.Index(name, ":")+1:])
	case strings.Contains(name, "\n"):
		return "is more than one line", "write one name"
	case len(name) > maxAssignee:
		return fmt.Sprintf("has more than %d bytes", maxAssignee), "no one can sign in so"
	case like == "policy" || like == "operator" ||
		strings.HasPrefix(strings.ToLower(name), "operator for "):
		return "is a name of the engine's own", "name a person, or a group like group:finance"
	}
	return "", ""
}

// checkCharset reports the first character that does not belong, by its code point.
func (r *reader) checkCharset(c class, set charset, t Text) bool {
	rule := RuleNameCharset
	if c == classJSON {
		rule = RuleNameJSON
	}
	form := set.what + " matches " + c.regexp()
	if t.Value == "" {
		r.report(rule, t.At, form, "%s is empty", set.what)
		return false
	}
	count := 0
	for i, char := range t.Value {
		count++
		if within(char, set.rest) && i > 0 || within(char, set.first) {
			continue
		}
		what := strconv.QuoteRune(char)
		if unicode.In(char, unicode.Mn, unicode.Me) { // it would sit on the quote
			what = strconv.QuoteRuneToASCII(char)
		}
		if char >= 0x80 {
			what += fmt.Sprintf(" (U+%04X)", char)
		}
		hint := form
		if like := joined(set, t.Value); like != "" && c != classLanguage {
			hint = didYouMean(like)
		}
		r.report(rule, t.At, hint, "%q is not %s: character %d is %s", t.Value, set.what, count,
			what)
		return false
	}
	if len(t.Value) > set.most {
		r.report(rule, t.At, form, "%q is longer than %d characters", t.Value, set.most)
		return false
	}
	return true
}

// checkReserved reports names that have another meaning already.
func (r *reader) checkReserved(c class, t Text) bool {
	switch {
	case c == classBranch && t.Value == "route":
		r.report(RuleNameReserved, t.At, "choose another name",
			`"route" is the wrapper that some models' replies put around a routing`)
	case c == classBranch && t.Value == "end":
		r.report(RuleNameReserved, t.At, "choose another name",
			`"end" ends the work in a collect table`)
	default:
		return true
	}
	return false
}

// isDevice reports whether Windows takes a file of that name for a device.
func isDevice(name string) bool {
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && name[3] >= '0' &&
		name[3] <= '9'
}

func (r *reader) checkPackage(t Text) {
	var why string
	switch v := t.Value; {
	case !token.IsIdentifier(v) && !token.IsKeyword(v) ||
		strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || v == "_":
		why = "is not a lower-case Go identifier"
	case token.IsKeyword(v) || types.Universe.Lookup(v) != nil:
		why = "is a word of the Go language"
	case v == "main" || v == "internal" || v == "init" || v == "vendor" || v == "testdata":
		why = "has a meaning of its own in Go"
	case strings.HasSuffix(v, "_test"):
		why = "ends in _test, which only test packages do"
	default:
		return
	}
	r.report(RulePackageInvalid, t.At, "choose a short lower-case word, such as routes",
		"package name %q %s", t.Value, why)
}

// isOutside reports whether a reference leaves the spec: a URL, an absolute path or a step up.
func isOutside(ref string) bool {
	return ref == "" || strings.Contains(ref, "://") || strings.ContainsAny(ref, "\\~") ||
		strings.HasPrefix(ref, "/") ||
		strings.HasPrefix(ref, ".") || strings.Contains(ref, "/../") ||
		strings.HasSuffix(ref, "/..") || len(ref) > 1 && ref[1] == ':'
}

// outFault says why a folder cannot be the output folder, or returns "".
func outFault(out string) string {
	switch {
	case out == "":
		return "is empty"
	case strings.HasPrefix(out, "/"):
		return "is absolute"
	case strings.Contains(out, `\`):
		return "has a backslash; folders are separated by /"
	case strings.HasPrefix(out, "~"):
		return "begins with ~, which only a shell understands"
	case len(out) > 1 && out[1] == ':':
		return "begins with a drive letter"
	case out == ".":
		return ""
	}
	for part := range strings.SplitSeq(out, "/") {
		switch {
		case part == "..":
			return "leaves the folder of the spec"
		case part == "" || part == ".":
			return "is not in its shortest form"
		case part[0] == '.' || part[0] == '_' || part == "testdata" || part == "vendor":
			return "has a part " + quoted(part) + ", which the Go tool skips"
		case module.CheckImportPath(part) != nil:
			return "has a part " + quoted(part) + ", which is not a valid part of an import path"
		}
	}
	return ""
}

// fileFault says why a path cannot be that of an included file, or returns "". Where a path leads
// depends on the file that has it.
func fileFault(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is empty"
	case strings.Contains(name, "://"):
		return "is an address; included files are read from the folder"
	case strings.HasPrefix(name, "/"):
		return "is absolute"
	case len(name) > 1 && name[1] == ':':
		return "begins with a drive letter"
	case strings.Contains(name, `\`):
		return "has a backslash; folders are separated by /"
	case strings.HasPrefix(name, "~"):
		return "begins with ~, which only a shell understands"
	}
	return ""
}

func (r *reader) checkGoType(t Text) {
	at := strings.LastIndexByte(t.Value, '.')
	if at < strings.LastIndexByte(t.Value, '/') || at < 1 {
		r.report(RuleImportInvalid, t.At, "write example.com/app/agents.TicketRequest",
			"%q is not an import path, a dot and a type name", t.Value)
		return
	}
	pkg, name := t.Value[:at], t.Value[at+1:]
	var why string
	switch {
	case pkg == "C" || pkg == "unsafe":
		why = "package " + pkg + " is never bound"
	case strings.HasPrefix(pkg, "."):
		why = "the import path is relative"
	case module.CheckImportPath(pkg) != nil:
		why = strings.TrimPrefix(module.CheckImportPath(pkg).Error(), "malformed ")
	case !token.IsExported(name) || !token.IsIdentifier(name):
		why = quoted(name) + " is not an exported type name"
	default:
		return
	}
	r.report(RuleImportInvalid, t.At, "write example.com/app/agents.TicketRequest",
		"go_type %q: %s", t.Value, why)
}
