package tui

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// names are what programs and nodes are called for people. They come from the graph that the page draws; nil is none.
type names struct {
	nodes    map[string]string // by key, and by agent type
	programs map[string]string // by machine
	sources  map[string]string // agent types of the nodes that can be told to interrupt, by key
	targets  []string          // agent types of the nodes that running work can be sent to
}

// with returns the names with those of a graph. What was handed out before stays as it is: it may be read elsewhere.
func (n names) with(g *web.Graph) names {
	out := names{nodes: map[string]string{}, programs: map[string]string{g.Machine: g.Title}}
	maps.Copy(out.nodes, n.nodes)
	maps.Copy(out.programs, n.programs)
	for i := range g.Nodes {
		node := &g.Nodes[i]
		out.nodes[node.Key], out.nodes[node.AgentType] = node.Title, node.Title
	}
	out.sources, out.targets = n.sources, n.targets
	for i := range g.Routes {
		out.nodes[g.Routes[i].AgentType] = g.Routes[i].Title
		if g.Reroutes {
			out.targets = append(slices.Clip(out.targets), g.Routes[i].AgentType)
		}
	}
	if !g.Reroutes {
		return out
	}
	out.sources = map[string]string{}
	for i := range g.Nodes {
		for _, b := range g.Nodes[i].Branches {
			if b.Kind == "interrupt" {
				out.sources[g.Nodes[i].Key] = g.Nodes[i].AgentType
			}
		}
	}
	return out
}

// node is what a node, or a place to go on at, is called.
func (n names) node(word string) string { return cmp.Or(n.nodes[word], plain(word)) }

// program is what a machine is called.
func (n names) program(machine string) string { return cmp.Or(n.programs[machine], plain(machine)) }

// The names of the engine's kinds. Those that a spec adds are put into words.
var kinds = map[string]string{runtime.KindUserEscape: "Paused", runtime.KindAgentQuestion: "Question", runtime.KindSystemError: "Failed step"}

func kindOf(kind string) string { return cmp.Or(kinds[kind], plain(kind)) }

var (
	breaks = regexp.MustCompile(`_+`)
	humps  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	starts = regexp.MustCompile(`\b[A-Z][a-z]`)
)

// plain turns an identifier into what a person reads, as the page does: DISCOVERY_COLLECTOR, discoveryCollector -> Discovery collector.
func plain(word string) string {
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '/' })
	for n, part := range parts {
		part = strings.TrimSpace(humps.ReplaceAllString(breaks.ReplaceAllString(part, " "), "$1 $2"))
		if part == strings.ToUpper(part) {
			part = strings.ToLower(part)
		}
		parts[n] = starts.ReplaceAllStringFunc(part, strings.ToLower)
	}
	text := strings.Join(parts, " ")
	return capital(text)
}

// capital is a text as it begins a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// low is plain within a sentence.
func low(word string) string {
	text := plain(word)
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// place is what the row of a frame that began says of it.
type place struct{ machine, name, parent string }

// guide learns what rows of the outbox leave out: what is called how, and what a frame that ended was. It reads the history no further than to
// the row that it is asked about, and each entry once.
type guide struct {
	from   port
	thread string
	names  names
	asked  map[string]bool // machines whose graph was asked for
	frames map[string]place
	after  string // the last row of the history that was read
	seq    int64
	news   int // how many graphs have come
}

func newGuide(from port, thread string) *guide {
	return &guide{from: from, thread: thread, asked: map[string]bool{}, frames: map[string]place{}}
}

// begin learns the names of what runs, or of what ran first where nothing runs.
func (g *guide) begin(ctx context.Context, t *web.Thread) {
	for i := range t.Frames {
		g.meet(ctx, t.Frames[i].Machine)
	}
	if len(t.Frames) == 0 {
		g.read(ctx, 10)
	}
}

// meet asks for the graph of a machine, once. A machine that has none, or a server that does not say, leaves its words as they are.
func (g *guide) meet(ctx context.Context, machine string) {
	if machine == "" || g.asked[machine] {
		return
	}
	graph, err := g.from.Program(ctx, machine)
	if g.asked[machine] = err == nil || runtime.CodeOf(err) != runtime.CodeUnavailable; err == nil {
		g.names = g.names.with(graph)
		g.news++
	}
}

// read reads on in the history, and reports whether there was more.
func (g *guide) read(ctx context.Context, limit int) bool {
	rows, _, err := g.from.History(ctx, g.thread, g.after, limit)
	if err != nil || len(rows) == 0 {
		return false
	}
	for n := range rows {
		if r := &rows[n]; r.Type == runtime.EntryEntered {
			g.frames[r.Frame] = place{r.Machine, r.Name, r.Parent}
			g.meet(ctx, r.Machine)
		}
	}
	last := &rows[len(rows)-1]
	g.after, g.seq = last.ID, last.Seq
	return true
}

// complete writes into the row of a frame that ended what that frame was, as far as that can be learned.
func (g *guide) complete(ctx context.Context, r *web.Row) {
	if r.Type != runtime.EntryReturned {
		return
	}
	for g.frames[r.Frame] == (place{}) && g.seq < r.Seq && g.read(ctx, 500) {
	}
	p := g.frames[r.Frame]
	delete(g.frames, r.Frame)
	r.Machine, r.Name, r.Parent = p.machine, p.name, p.parent
}
