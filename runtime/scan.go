package runtime

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

const maxDepth = 64 // objects and arrays inside each other

// start checks what holds for the whole input. False means: refused, nothing more to read.
func (d *Decoder) start() bool {
	switch {
	case bytes.HasPrefix(d.data, []byte("\xef\xbb\xbf")):
		d.fail("starts with a byte order mark: remove it")
	case !utf8.Valid(d.data):
		d.fail("is not UTF-8: encode the text as UTF-8")
	case d.peek() == 0 && d.pos >= len(d.data):
		d.fail("is empty: expected an object")
	}
	return !d.broken
}

// end checks that nothing follows the value.
func (d *Decoder) end() {
	if !d.broken && (d.peek() != 0 || d.pos < len(d.data)) {
		d.syntax("nothing more after the value")
	}
}

// peek skips white space and returns the next byte without consuming it, 0 at the end.
func (d *Decoder) peek() byte {
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		d.pos++
	}
	return 0
}

// enter consumes the bracket that opens a value. Any other value is reported and skipped.
func (d *Decoder) enter(open byte, want string) bool {
	if d.peek() != open {
		d.mismatch(want)
		return false
	}
	if d.depth++; d.depth > maxDepth {
		d.fail(fmt.Sprintf("is nested deeper than %d", maxDepth))
		return false
	}
	d.pos++
	return true
}

// more reports whether another element follows, and consumes the comma before it or the closing bracket.
func (d *Decoder) more(closing byte, first bool) bool {
	c := d.peek()
	switch {
	case d.broken:
		return false
	case c == closing:
		d.pos++
		return false
	case first:
		return true
	case c != ',':
		d.syntax("a comma or '" + string(closing) + "'")
		return false
	}
	d.pos++
	return true
}

// key consumes a key and its colon. The bytes are good until the next string is read.
func (d *Decoder) key() ([]byte, bool) {
	if d.peek() != '"' {
		d.syntax("a key in quotes")
		return nil, false
	}
	at := d.pos
	key, reason := d.quoted()
	if d.broken {
		return nil, false
	}
	if reason != "" {
		d.pos = at
		d.fail("has a key that " + reason)
		return nil, false
	}
	if d.peek() != ':' {
		d.syntax("a colon after the key")
		return nil, false
	}
	d.pos++
	return key, true
}

// quoted consumes a string and returns its text, good until the next string is read. A reason means that the text is refused and the
// string skipped.
func (d *Decoder) quoted() (text []byte, reason string) {
	data, start := d.data, d.pos+1
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			d.pos = i + 1
			return data[start:i], ""
		case c == '\\':
			return d.escaped(start, i)
		case c < ' ':
			d.pos = i
			d.fail(fmt.Sprintf("has the control character U+%04X in a string at byte %d: escape it", c, i))
			return nil, ""
		}
	}
	d.fail(fmt.Sprintf("has a string that is not closed, from byte %d on", start-1))
	return nil, ""
}

// escaped is quoted for a string with a backslash at i. The text is put together in the decoder's own memory.
func (d *Decoder) escaped(start, i int) (text []byte, reason string) {
	data := d.data
	d.text = append(d.text[:0], data[start:i]...)
	for i < len(data) {
		c := data[i]
		switch {
		case c == '"':
			d.pos = i + 1
			return d.text, reason
		case c < ' ':
			d.pos = i
			d.fail(fmt.Sprintf("has the control character U+%04X in a string at byte %d: escape it", c, i))
			return nil, ""
		case c != '\\':
			d.text = append(d.text, c)
			i++
			continue
		}
		size, bad, ok := d.escape(data[i:])
		if !ok {
			d.pos = i
			d.fail(fmt.Sprintf("has an unknown escape at byte %d", i))
			return nil, ""
		}
		if reason == "" {
			reason = bad
		}
		i += size
	}
	d.fail(fmt.Sprintf("has a string that is not closed, from byte %d on", start-1))
	return nil, ""
}

// escape appends what the escape at the start of in stands for, and returns its length.
func (d *Decoder) escape(in []byte) (size int, reason string, ok bool) {
	if len(in) < 2 {
		return 0, "", false
	}
	const plain, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(plain) {
		if in[1] == plain[i] {
			d.text = append(d.text, meaning[i])
			return 2, "", true
		}
	}
	r, ok := unicode(in)
	if !ok {
		return 0, "", false
	}
	size = 6
	if utf16.IsSurrogate(r) {
		low, _ := unicode(in[size:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return size, "holds a lone surrogate, half a character: remove it", true
		}
		size = 12
	}
	if r == 0 {
		reason = `holds the character \u0000: remove it`
	}
	d.text = utf8.AppendRune(d.text, r)
	return size, reason, true
}

// unicode reads \uXXXX at the start of in.
func unicode(in []byte) (rune, bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range in[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number consumes a number and returns its text; nil after a syntax error.
func (d *Decoder) number() []byte {
	data, start := d.data, d.pos
	i := start
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch digits := count(data, i); {
	case digits == 0:
		d.syntax("a value")
		return nil
	case data[i] == '0' && digits > 1:
		d.syntax("a number without leading zeros")
		return nil
	default:
		i += digits
	}
	if i < len(data) && data[i] == '.' {
		digits := count(data, i+1)
		if digits == 0 {
			d.syntax("a number with digits after the point")
			return nil
		}
		i += 1 + digits
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		digits := count(data, i)
		if digits == 0 {
			d.syntax("a number with digits in its exponent")
			return nil
		}
		i += digits
	}
	d.pos = i
	return data[start:i]
}

// count returns how many digits stand at i.
func count(data []byte, i int) int {
	n := 0
	for i+n < len(data) && data[i+n]-'0' <= 9 {
		n++
	}
	return n
}

// literal consumes true, false or null.
func (d *Decoder) literal(word string) bool {
	if end := d.pos + len(word); end <= len(d.data) && string(d.data[d.pos:end]) == word {
		d.pos = end
		return true
	}
	d.syntax("a value")
	return false
}

// skip consumes any value. Its keys and strings are checked like all others.
func (d *Decoder) skip() {
	switch d.peek() {
	case '{':
		d.skipObject()
	case '[':
		if !d.enter('[', "an array") {
			return
		}
		for n := 0; d.more(']', n == 0); n++ {
			d.path = append(d.path, step{index: n})
			d.skip()
			d.path = d.path[:len(d.path)-1]
		}
		d.depth--
	case '"':
		if _, reason := d.quoted(); reason != "" {
			d.problem(reason)
		}
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.literal("null")
	default:
		d.number()
	}
}

func (d *Decoder) skipObject() {
	if !d.enter('{', "an object") {
		return
	}
	seen := map[string]struct{}{}
	for first := true; d.more('}', first); first = false {
		key, ok := d.key()
		if !ok {
			break
		}
		name := string(key)
		if _, twice := seen[name]; twice {
			d.badKey(name, twiceReason)
		}
		seen[name] = struct{}{}
		d.path = append(d.path, step{name: name, index: -1})
		d.skip()
		d.path = d.path[:len(d.path)-1]
	}
	d.depth--
}
