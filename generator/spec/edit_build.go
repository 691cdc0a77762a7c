package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (f *fresh) set(key string, value *fresh) {
	f.keys, f.values = append(f.keys, key), append(f.values, value)
}

func (n *Number) text() string { return strconv.FormatFloat(n.Value, 'g', -1, 64) }

// build makes a mapping of a shape from keys and values.
func (e *edition) build(s *shape, set []KeyValue) (*fresh, []Finding) {
	root := &fresh{kind: freshMapping}
	for _, kv := range set {
		b := &building{edition: e, key: kv.Key, value: kv.Value}
		if bad := b.put(root, s, kv.Key); bad != nil {
			return nil, bad
		}
	}
	root.order(s)
	return root.brief(s), nil
}

// brief takes the short form of a mapping that holds no more than that says.
func (f *fresh) brief(s *shape) *fresh {
	if f.kind == freshMapping && len(f.keys) == 1 && s.short.name != "" && f.keys[0] == s.shortKey() {
		return f.values[0]
	}
	return f
}

// building is one KEY=VALUE on its way into a mapping.
type building struct {
	*edition
	key, value string
}

func (b *building) refuse(hint, format string, args ...any) []Finding {
	return b.edition.refuse(RuleEditArgument, Span{}, hint, "%s=%s: %s", b.key, b.value, fmt.Sprintf(format, args...))
}

// put follows a path of keys through a mapping.
func (b *building) put(into *fresh, s *shape, path string) []Finding {
	name, rest, more := strings.Cut(path, ".")
	info := s.keyed(name)
	for short, long := range map[string]string{"field": "fields", "branch": "branches", "value": "values"} {
		if info == nil && name == short {
			info = s.keyed(long)
		}
	}
	if info == nil {
		for _, implied := range []string{"fields", "values"} {
			if k := s.keyed(implied); k != nil {
				return b.entry(into.mapping(implied), k, path)
			}
		}
		names := make([]string, len(s.keys))
		for i := range s.keys {
			names[i] = s.keys[i].name
		}
		hint := didYouMean(nearest(name, names))
		if hint == "" {
			hint = "known: " + strings.Join(names, ", ")
		}
		return b.refuse(hint, "there is no key %q in %s", name, s.noun)
	}
	if !more {
		value, bad := b.leaf(info)
		if bad != nil {
			return bad
		}
		return b.once(into, info.name, value)
	}
	switch {
	case info.list || info.form != formMapping && info.form != formEntries:
		return b.refuse("write "+name+"="+info.wanted(), "%q has no keys of its own", name)
	case info.form == formEntries:
		return b.entry(into.mapping(info.name), info, rest)
	}
	return b.put(into.mapping(info.name), info.of, rest)
}

// entry follows a path into a mapping of names.
func (b *building) entry(into *fresh, info *keyInfo, path string) []Finding {
	name, rest, more := strings.Cut(path, ".")
	if info.keys == classValue {
		name, rest, more = path, "", false
	}
	switch {
	case more:
		return b.put(into.mapping(name), info.of, rest)
	case info.of.noun == "": // pairs of words
		return b.once(into, name, freshText(b.value))
	case strings.HasPrefix(b.value, "{"):
		value, ok := parseValue(b.value)
		if !ok || value.kind != freshMapping {
			return b.refuse("write {key: value, ...}", "this is not YAML")
		}
		return b.once(into, name, value)
	case info.of.short.name == "" && info.of.shortKey() != "type":
		return b.refuse("write {key: value, ...}, or one key at a time", "%s is a mapping", info.of.noun)
	}
	return b.once(into.mapping(name), info.of.shortKey(), freshText(b.value))
}

// leaf reads the value as what a key holds.
func (b *building) leaf(info *keyInfo) (*fresh, []Finding) {
	switch {
	case info.list && !strings.HasPrefix(b.value, "["):
		f := &fresh{kind: freshList}
		for word := range strings.SplitSeq(b.value, ",") {
			f.values = append(f.values, freshText(strings.TrimSpace(word)))
		}
		return f, nil
	case !info.list && (info.form == formText || info.form == formWords && !strings.ContainsAny(b.value[:min(1, len(b.value))], "[{")):
		return freshText(b.value), nil
	case !info.list && info.form == formMapping && info.of.short.name != "" && !strings.HasPrefix(b.value, "{"):
		return freshText(b.value), nil
	}
	f, ok := parseValue(b.value)
	mapping := !info.list && (info.form == formMapping || info.form == formEntries)
	if !ok || mapping != (f.kind == freshMapping) && info.form != formAny {
		return nil, b.refuse("write "+info.wanted(), "this is not what the key holds")
	}
	return f, nil
}

func (b *building) once(into *fresh, key string, value *fresh) []Finding {
	if into.kind != freshMapping || into.get(key) != nil {
		return b.refuse("give it once", "this was given already")
	}
	into.set(key, value)
	return nil
}

// mapping returns the mapping below a key, which is made where there is none.
func (f *fresh) mapping(key string) *fresh {
	if f.kind != freshMapping {
		return f
	}
	if inner := f.get(key); inner != nil {
		return inner
	}
	inner := &fresh{kind: freshMapping}
	f.set(key, inner)
	return inner
}

// order sorts the keys of a value by the grammar, decides what is written in lines, and takes short forms where they do.
func (f *fresh) order(s *shape) {
	if f.kind != freshMapping {
		return
	}
	f.lines = slices.Contains([]string{"node", "type", "enum", "request", "interrupt", "interrupts", "prompt", "flow", "action"}, s.noun)
	at := make([]int, len(f.keys))
	for i := range at {
		at[i] = i
	}
	rank := func(i int) int { return slices.IndexFunc(s.keys, func(k keyInfo) bool { return k.name == f.keys[i] }) }
	slices.SortStableFunc(at, func(a, b int) int { return rank(a) - rank(b) })
	keys, values := f.keys, f.values
	f.keys, f.values = nil, nil
	for _, i := range at {
		f.set(keys[i], values[i])
		if info := s.keyed(keys[i]); info != nil && !info.list {
			values[i].orderBelow(info)
		}
	}
}

func (f *fresh) orderBelow(info *keyInfo) {
	switch {
	case f.kind != freshMapping || info.of == nil:
	case info.form == formMapping:
		f.order(info.of)
	case info.form == formEntries:
		f.lines = true
		for i, v := range f.values {
			v.order(info.of)
			f.values[i] = v.brief(info.of)
		}
	}
}
