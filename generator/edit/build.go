package edit

import (
	"fmt"
	"strings"

	"github.com/routegen/routegen/generator/spec"
)

// build makes a mapping of a shape from keys and values. It refuses and returns nil if one of them
// cannot be understood.
func (e *change) build(s *spec.Shape, set []KeyValue) *spec.YAMLNode {
	root := mappingNode("", nil)
	for _, kv := range set {
		b := &builder{change: e, key: kv.Key, value: kv.Value}
		if !b.put(root, s, kv.Key) {
			return nil
		}
	}
	e.arrangeNew(root, s)
	return shortForm(root, s)
}

// builder puts one KEY=VALUE into a mapping. Its methods refuse and return false or nil if they
// cannot.
type builder struct {
	*change
	key, value string
}

func (b *builder) fail(hint, format string, args ...any) bool {
	b.refuseArgumentf(hint, "%s=%s: %s", b.key, b.value, fmt.Sprintf(format, args...))
	return false
}

// put follows a path of keys through a mapping.
func (b *builder) put(into *spec.YAMLNode, s *spec.Shape, path string) bool {
	name, rest, more := strings.Cut(path, ".")
	k := s.Key(name)
	if long := map[string]string{"field": "fields", "branch": "branches",
		"value": "values"}[name]; k == nil && long != "" {
		k = s.Key(long)
	}
	if k == nil {
		for _, implied := range []string{"fields", "values"} {
			if k := s.Key(implied); k != nil {
				return b.entry(submapping(into, implied), k, path)
			}
		}
		names := make([]string, len(s.Keys))
		for i := range s.Keys {
			names[i] = s.Keys[i].Name
		}
		hint := spec.DidYouMean(name, names)
		if hint == "" {
			hint = "known: " + strings.Join(names, ", ")
		}
		return b.fail(hint, "there is no key %q in %s", name, s.Noun)
	}
	switch {
	case !more:
		return b.set(into, k.Name, b.leaf(k))
	case !k.List && k.Form == spec.FormEntries:
		return b.entry(submapping(into, k.Name), k, rest)
	case !k.List && k.Form == spec.FormMapping:
		return b.put(submapping(into, k.Name), k.Of, rest)
	}
	return b.fail("write "+name+"="+k.Wanted(), "%q has no keys of its own", name)
}

// entry follows a path into a mapping of names. The names of enum values may contain dots.
func (b *builder) entry(into *spec.YAMLNode, k *spec.Key, path string) bool {
	name, rest, more := strings.Cut(path, ".")
	if k.Of.Noun == "enum value" {
		name, more = path, false
	}
	switch {
	case more:
		return b.put(submapping(into, name), k.Of, rest)
	case k.Of.Noun == "": // pairs of words
		return b.set(into, name, textNode(b.value))
	case strings.HasPrefix(b.value, "{"):
		n := spec.ReadYAML([]byte(b.value))
		if n == nil || n.Kind != spec.MappingNode {
			return b.fail("write {key: value, ...}", "this is not YAML")
		}
		return b.set(into, name, n)
	case k.Of.Short.Name == "" && k.Of.ShortKey() != "type":
		return b.fail("write {key: value, ...}, or one key at a time", "%s is a mapping",
			k.Of.Noun)
	}
	return b.set(submapping(into, name), k.Of.ShortKey(), textNode(b.value))
}

// leaf reads the value as what a key holds.
func (b *builder) leaf(k *spec.Key) *spec.YAMLNode {
	first := b.value[:min(1, len(b.value))]
	mapping := k.Form == spec.FormMapping || k.Form == spec.FormEntries
	switch {
	case k.List && first != "[":
		words := strings.Split(b.value, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		return textsNode(words...)
	case k.List:
	case k.Form == spec.FormText,
		k.Form == spec.FormWords && first != "[" && first != "{",
		k.Form == spec.FormMapping && k.Of.Short.Name != "" && first != "{":
		return textNode(b.value)
	}
	n := spec.ReadYAML([]byte(b.value))
	isMapping := n != nil && n.Kind == spec.MappingNode
	if n == nil || isMapping != (mapping && !k.List) && k.Form != spec.FormAny {
		b.fail("write "+k.Wanted(), "this is not what the key holds")
		return nil
	}
	return n
}

// set adds a pair to a mapping that does not have it yet.
func (b *builder) set(into *spec.YAMLNode, key string, n *spec.YAMLNode) bool {
	if n == nil {
		return false
	}
	if into.Kind != spec.MappingNode || member(into, key) != nil {
		return b.fail("give it once", "this was given already")
	}
	setMember(into, key, n)
	return true
}
