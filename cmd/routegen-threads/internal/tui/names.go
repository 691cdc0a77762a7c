package tui

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// displayNames are the display names of programs and nodes, from the graph that the page draws.
type displayNames struct {
	nodes    map[string]string // by key, and by agent type
	programs map[string]string // by machine
	reroutes *web.Graph        // of the machine whose running nodes take reroute events, or nil
}

// withGraph returns a copy of n with the names of a graph. The receiver does not change: other
// goroutines may read it.
func (n displayNames) withGraph(g *web.Graph) displayNames {
	out := displayNames{nodes: map[string]string{}, programs: map[string]string{g.Machine: g.Title},
		reroutes: n.reroutes}
	if g.Reroutes {
		out.reroutes = g
	}
	maps.Copy(out.nodes, n.nodes)
	maps.Copy(out.programs, n.programs)
	for i := range g.Nodes {
		node := &g.Nodes[i]
		out.nodes[node.Key], out.nodes[node.AgentType] = node.Title, node.Title
	}
	for i := range g.Routes {
		out.nodes[g.Routes[i].AgentType] = g.Routes[i].Title
	}
	return out
}

// nodeName returns the display name of a node.
func (n displayNames) nodeName(word string) string { return cmp.Or(n.nodes[word], humanize(word)) }

// programName returns the display name of a machine.
func (n displayNames) programName(machine string) string {
	return cmp.Or(n.programs[machine], humanize(machine))
}

// The names of the engine's kinds. Those that a spec adds are put into words.
var kinds = map[string]string{thread.KindUserEscape: "Paused",
	thread.KindAgentQuestion: "Question", thread.KindSystemError: "Failed step"}

func kindOf(kind string) string { return cmp.Or(kinds[kind], humanize(kind)) }

var (
	breaks = regexp.MustCompile(`_+`)
	humps  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	starts = regexp.MustCompile(`\b[A-Z][a-z]`)
)

// humanize turns an identifier into words, as the page does: DISCOVERY_COLLECTOR and
// discoveryCollector become "Discovery collector".
func humanize(word string) string {
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '/' })
	for n, part := range parts {
		part = strings.TrimSpace(humps.ReplaceAllString(breaks.ReplaceAllString(part, " "),
			"$1 $2"))
		if part == strings.ToUpper(part) {
			part = strings.ToLower(part)
		}
		parts[n] = starts.ReplaceAllStringFunc(part, strings.ToLower)
	}
	return capitalize(strings.Join(parts, " "))
}

// humanizeLower is humanize for the middle of a sentence.
func humanizeLower(word string) string { return mapFirst(humanize(word), unicode.ToLower) }

// capitalize returns text with a capital first letter.
func capitalize(text string) string { return mapFirst(text, unicode.ToUpper) }

func mapFirst(text string, to func(rune) rune) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(to(first)) + text[size:]
}

// frameInfo is what the row of a frame that began says of the frame.
type frameInfo struct{ machine, name, parent string }

// nameResolver loads what rows of the outbox leave out: display names, and what a frame was that
// ended. It reads the history up to the row in question at most, and each entry once.
type nameResolver struct {
	from   port
	thread string
	names  displayNames
	asked  map[string]bool // machines whose graph was asked for
	frames map[string]frameInfo
	after  string // the last row of the history that was read
	seq    int64
	news   int // how many graphs have come
}

func newNameResolver(from port, thread string) *nameResolver {
	return &nameResolver{from: from, thread: thread, asked: map[string]bool{},
		frames: map[string]frameInfo{}}
}

// loadNames loads the names of the machines that run, or of the first ones if none runs.
func (g *nameResolver) loadNames(ctx context.Context, t *web.Thread) {
	for i := range t.Frames {
		g.loadGraph(ctx, t.Frames[i].Machine)
	}
	if len(t.Frames) == 0 {
		g.readHistory(ctx, 10)
	}
}

// loadGraph loads the graph of a machine, once. Names stay as they are if there is no graph or the
// server refuses it.
func (g *nameResolver) loadGraph(ctx context.Context, machine string) {
	if machine == "" || g.asked[machine] {
		return
	}
	graph, err := g.from.Program(ctx, machine)
	if g.asked[machine] = err == nil || runtime.CodeOf(err) != runtime.CodeUnavailable; err == nil {
		g.names = g.names.withGraph(graph)
		g.news++
	}
}

// readHistory reads the next entries of the history, and reports whether there were any.
func (g *nameResolver) readHistory(ctx context.Context, limit int) bool {
	rows, _, err := g.from.History(ctx, g.thread, g.after, limit)
	if err != nil || len(rows) == 0 {
		return false
	}
	for n := range rows {
		if r := &rows[n]; r.Type == thread.EntryEntered {
			g.frames[r.Frame] = frameInfo{r.Machine, r.Name, r.Parent}
			g.loadGraph(ctx, r.Machine)
		}
	}
	last := &rows[len(rows)-1]
	g.after, g.seq = last.ID, last.Seq
	return true
}

// describeFrame adds to the row of a frame that ended what the frame was, if that can be found.
func (g *nameResolver) describeFrame(ctx context.Context, r *web.Row) {
	if r.Type != thread.EntryReturned {
		return
	}
	for g.frames[r.Frame] == (frameInfo{}) && g.seq < r.Seq && g.readHistory(ctx, 500) {
	}
	p := g.frames[r.Frame]
	delete(g.frames, r.Frame)
	r.Machine, r.Name, r.Parent = p.machine, p.name, p.parent
}
