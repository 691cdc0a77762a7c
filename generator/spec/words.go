package spec

import (
	"strings"
	"unicode"
)

// initialisms are written in capitals in Go names. The list is frozen for spec version 1: a longer
// one would rename what users already call. A single name is changed with go_name.
var initialisms = map[string]bool{
	"ACL": true, "API": true, "ASCII": true, "CPU": true, "CSS": true, "DB": true, "DNS": true,
	"EOF":  true,
	"GUID": true, "HTML": true, "HTTP": true, "HTTPS": true, "ID": true, "IP": true, "JSON": true,
	"LLM": true,
	"MCP": true, "QPS": true, "RAM": true, "RPC": true, "SLA": true, "SMTP": true, "SQL": true,
	"SSH": true,
	"TCP": true, "TLS": true, "TTL": true, "UDP": true, "UI": true, "UID": true, "URI": true,
	"URL":  true,
	"UTF8": true, "UUID": true, "VM": true, "XML": true, "XMPP": true, "XSRF": true, "XSS": true,
	"YAML": true,
}

// words splits a key into words: at "_", "-", "." and blanks, from lower to upper case, and before
// the last capital of a run that a lower-case letter follows ("JSONFile" is "JSON", "File"). Digits
// stay with the word before them.
func words(key string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = nil
		}
	}
	runes := []rune(key)
	for i, r := range runes {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			flush()
			continue
		}
		if i > 0 && unicode.IsUpper(r) {
			before := runes[i-1]
			followed := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) &&
				followed {
				flush()
			}
		}
		word = append(word, r)
	}
	flush()
	return out
}

// GoName turns a key of the spec into an exported Go identifier: contextId becomes ContextID.
func GoName(key string) string {
	var b strings.Builder
	for _, w := range words(key) {
		b.WriteString(goWord(w))
	}
	return b.String()
}

func goWord(w string) string {
	upper := strings.ToUpper(w)
	if initialisms[upper] {
		return upper
	}
	if stem, ok := strings.CutSuffix(upper, "S"); ok && initialisms[stem] && !initialisms[upper] {
		return stem + "s"
	}
	return strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
}

// WireName turns a node key into an agent type: discoveryOrchestrator becomes
// DISCOVERY_ORCHESTRATOR.
func WireName(key string) string { return strings.ToUpper(strings.Join(words(key), "_")) }

// DisplayName turns a key into words a person reads: discoveryOrchestrator becomes "Discovery
// Orchestrator".
func DisplayName(key string) string {
	ws := words(key)
	for i, w := range ws {
		ws[i] = goWord(w)
	}
	return strings.Join(ws, " ")
}
