package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/report"
)

// node is one value of the YAML document. No other file names the library.
type node = yaml.Node

// The kinds of nodes.
const (
	MappingNode  = yaml.MappingNode
	SequenceNode = yaml.SequenceNode
	ScalarNode   = yaml.ScalarNode
	aliasNode    = yaml.AliasNode
)

// The tags that a plain scalar can resolve to.
const (
	TagText  = "!!str"
	tagInt   = "!!int"
	tagFloat = "!!float"
	tagBool  = "!!bool"
	TagNull  = "!!null"
	tagTime  = "!!timestamp"
	tagMerge = "!!merge"
)

// decode returns the root node of the only document of a clean text, or reports a finding and
// returns nil.
func (r *reader) decode(text []byte) *node {
	s := scan(text)
	if r.refuseWideSpaces(s) {
		return nil
	}
	if s.over != nil {
		r.reportAt(s.over.rule, r.src.Span(s.over.at, s.over.end), s.over.hint, "%s",
			s.over.message)
		return nil
	}
	dec := newDecoder(s.text)
	doc, err := decodeNext(dec)
	if errors.Is(err, io.EOF) || err == nil && doc.Kind == 0 {
		r.reportAt(RuleEmpty, report.Span{}, "routegen init writes a first spec",
			"the file holds no document")
		return nil
	}
	if err != nil {
		r.syntax(s, err)
		return nil
	}
	if next, err := decodeNext(dec); !errors.Is(err, io.EOF) {
		at := report.Span{}
		if len(s.markers) > 0 {
			at = r.src.Span(s.markers[0], s.markers[0]+3)
		} else if err == nil {
			at = report.Span{Start: report.Pos{Line: next.Line, Column: next.Column},
				End: report.Pos{Line: next.Line, Column: next.Column + 1}}
		}
		r.reportAt(RuleMultiDoc, at, "keep one document in the file",
			"a second YAML document begins here")
	}
	r.collectAllows(s)
	root := doc
	if doc.Kind == yaml.DocumentNode {
		root = doc.Content[0]
	}
	nodes := 0
	if !r.inspect(root, 1, &nodes) {
		return nil
	}
	return root
}

// versionLine is a directive that the library takes for a version it cannot read, in front of the
// document's begin.
var versionLine = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\r?\n)*(%)YAML 1\.2[ \t]*(?:#[^\n]*)?` +
	`\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*---`)

func newDecoder(text []byte) *yaml.Decoder {
	if at := versionLine.FindSubmatchIndex(text); at != nil {
		text = bytes.Clone(text)
		text[at[2]] = '#'
	}
	return yaml.NewDecoder(bytes.NewReader(text))
}

// decodeNext reads one document. A panic of the library is an error like any other.
func decodeNext(dec *yaml.Decoder) (doc *node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	doc = new(node)
	return doc, dec.Decode(doc)
}

// libraryLine finds the line that the library names.
func libraryLine(message string) (line int, rest string) {
	found := regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`).FindStringSubmatch(message)
	line, _ = strconv.Atoi(found[1])
	return line, message[len(found[0]):]
}

// syntax reports why the library refused the text. The library names the line that it was reading,
// sometimes the one before; a place that the scanner suspects near that line is more exact.
func (r *reader) syntax(s *scanner, err error) {
	line, message := libraryLine(err.Error())
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name = "*" + strings.TrimSuffix(name, "' referenced")
		from := max(0, bytes.Index(s.text, []byte(name)))
		r.reportAt(RuleAlias, r.src.Span(from, from+len(name)), "write the value out",
			"alias %s: the language has no aliases", name)
		return
	}
	if r.bareTypes(s) {
		return
	}
	best, distance := -1, 0
	for i, suspect := range s.suspects {
		d := r.src.Pos(suspect.at).Line - line
		d = max(d, -d)
		if best < 0 || line > 0 && d < distance {
			best, distance = i, d
		}
	}
	if best >= 0 {
		found := s.suspects[best]
		end := min(found.end, s.lineEnd(found.at))
		r.reportAt(found.rule, r.src.Span(found.at, max(end, found.at)), found.hint,
			"this is not YAML: %s", found.message)
		return
	}
	line = min(max(line, 1), r.src.LineCount())
	for line < r.src.LineCount() && len(bytes.TrimSpace(r.src.Line(line))) == 0 {
		line++
	}
	text := r.src.Line(line)
	indent := len(text) - len(bytes.TrimLeft(text, " "))
	at := report.Pos{Line: line, Column: 1 + indent}
	width := utf8.RuneCount(bytes.TrimSpace(text))
	r.reportAt(RuleSyntax, report.Span{Start: at,
		End: report.Pos{Line: line, Column: at.Column + max(1, width)}}, "",
		"this is not YAML: %s", message)
}

// inspect refuses what the language does not have, anywhere: anchors, aliases, tags,
// merge keys, too much of anything. It reports false when reading on could be costly.
func (r *reader) inspect(n *node, depth int, nodes *int) bool {
	if *nodes++; *nodes > maxNodes {
		r.reportAt(RuleTooManyNodes, r.span(n), "", "the document has more than %d values",
			maxNodes)
		return false
	}
	if depth > maxDepth {
		r.reportAt(RuleTooDeep, r.span(n), "", "nesting is deeper than %d levels", maxDepth)
		return false
	}
	if n.Kind == aliasNode {
		r.reportAt(RuleAlias, r.span(n), "write the value out",
			"alias *%s: the language has no aliases", n.Value)
		return true
	}
	if n.Anchor != "" {
		r.reportAt(RuleAlias, r.mark(n, 1+utf8.RuneCountInString(n.Anchor)), "remove it",
			"anchor &%s: the language has no anchors", n.Anchor)
	}
	if hasTag(n) {
		r.reportAt(RuleTag, r.mark(n, len(n.Tag)), "remove it; quote text that must stay text",
			"tag %s: the language has no tags", n.Tag)
	}
	if n.Kind == MappingNode && len(n.Content)/2 > maxKeys {
		r.reportAt(RuleTooManyKeys, r.span(n), "", "one mapping has more than %d keys", maxKeys)
		return false
	}
	for i, child := range n.Content {
		if n.Kind == MappingNode && i%2 == 0 && child.Tag == tagMerge {
			r.reportAt(RuleMergeKey, r.span(child), "write the keys out",
				"merge key <<: the language has no merge keys")
		}
		if !r.inspect(child, depth+1, nodes) {
			return false
		}
	}
	return true
}

func (r *reader) mark(n *node, width int) report.Span {
	return report.Span{Start: report.Pos{Line: n.Line, Column: n.Column},
		End: report.Pos{Line: n.Line, Column: n.Column + width}}
}

// longLine is the length from which spans of quoted text are estimated, so that one huge line stays
// cheap.
const longLine = 4096

// span returns the place of a node: the scalar with its quotes, or the first character of a
// collection.
func (r *reader) span(n *node) report.Span {
	if n.Kind != ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return r.mark(n, 1)
	}
	width := utf8.RuneCountInString(n.Value)
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		if width > 60 { // plain text may go on over lines
			width = min(width, max(1, utf8.RuneCount(r.src.Line(n.Line))-n.Column+1))
		}
		return r.mark(n, max(1, width))
	}
	line := r.src.Line(n.Line)
	if len(line) > longLine {
		return r.mark(n, width+2)
	}
	from := report.ByteOffset(line, n.Column)
	if from >= len(line) {
		return r.mark(n, 1)
	}
	end := min((&scanner{text: line}).quoted(from), len(line))
	return r.mark(n, utf8.RuneCount(line[from:end]))
}

// isPlain reports whether a scalar was written without quotes and not as a block.
func isPlain(n *node) bool {
	return n.Style&^(yaml.TaggedStyle|yaml.FlowStyle) == 0
}

// hasTag reports whether a tag was written.
func hasTag(n *node) bool { return n.Style&yaml.TaggedStyle != 0 }

// switchWords are read as true or false by tools that follow YAML 1.1.
const switchWords = " no on yes off "

// misread says how YAML reads a scalar that was meant as text, or returns "" if it is text for
// every reader.
func misread(n *node) string {
	switch n.Tag {
	case TagText:
		if isPlain(n) && len(n.Value) <= 3 && len(n.Value) >= 2 &&
			strings.Contains(switchWords, " "+strings.ToLower(n.Value)+" ") {
			return "true or false by YAML 1.1 tools"
		}
		return ""
	case tagInt:
		if v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64); err == nil {
			return fmt.Sprintf("the number %d", v)
		}
		return "a number"
	case tagFloat:
		if v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64); err == nil {
			return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
		}
		return "a number"
	case tagBool:
		return "true or false"
	case TagNull:
		return "nothing (null)"
	case tagTime:
		return "a date"
	}
	return "a value with the tag " + n.Tag
}
