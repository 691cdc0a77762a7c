// Package standin replaces the servers and the model of examples/inspection: it has MCP servers in
// memory, and a model that understands a few words of Dutch. The servers keep the rules that real
// ones would have to keep; the example does not depend on which it has.
package standin

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
)

// Draft is an unfinished report.
type Draft struct {
	Report       map[string]string `json:"report"`
	Completeness float64           `json:"completeness"` // per cent
	Confidence   float64           `json:"overall_confidence"`
	Questions    []string          `json:"verification_questions"`
}

// Words is the input of the tools: what was said, and the draft that it is about.
type Words struct {
	Report map[string]string `json:"report,omitempty"` // the draft; none: a new one
	Text   string            `json:"text"`
}

// fill puts values, "Jansen; 20 november", where the draft has none or a doubtful one: "misschien
// hoog". It asks for what is left, three at most.
func fill(w Words) Draft {
	d := Draft{Report: map[string]string{}, Confidence: 1, Questions: []string{}}
	maps.Copy(d.Report, w.Report)
	missing := func(field string) bool {
		return d.Report[field] == "" || strings.Contains(d.Report[field], "misschien")
	}
	values := strings.Split(w.Text, ";")
	for _, field := range []string{"bedrijf", "datum", "bevinding", "ernst", "maatregel"} {
		if missing(field) && len(values) > 0 {
			d.Report[field], values = cmp.Or(strings.TrimSpace(values[0]), d.Report[field]),
				values[1:]
		}
		if d.Report[field] == "" {
			delete(d.Report, field)
		} else if d.Completeness += 20; missing(field) {
			d.Confidence -= 0.2
		}
		if missing(field) && len(d.Questions) < 3 {
			d.Questions = append(d.Questions, "Kunt u '"+field+"' aanvullen?")
		}
	}
	return d
}

// Final is the report that goes out.
type Final struct {
	Report    map[string]string `json:"report"`
	SendEmail bool              `json:"send_email"`
}

// Servers returns servers in memory, by their names. say is called for each mail that is sent. A
// repeated call with the same key returns the same report and sends no second mail.
func Servers(say func(format string, args ...any)) map[string]*mcp.Server {
	servers := map[string]*mcp.Server{}
	for _, name := range []string{"regulation", "history", "reporting"} {
		servers[name] = mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	}
	Serve(servers["regulation"], "search_regulations", "Finds rules.",
		func(Words, string) map[string]string {
			return map[string]string{"found": "Gekoelde vis wordt bewaard bij ten hoogste 4 " +
				"graden (artikel 4)."}
		})
	Serve(servers["history"], "get_inspection_history", "Finds earlier inspections.",
		func(Words, string) map[string]string {
			return map[string]string{"found": "Twee bezoeken: 12 maart akkoord, 3 juni een " +
				"waarschuwing."}
		})
	Serve(servers["reporting"], "extract_inspection_data",
		"Makes a draft of what the inspector said.", func(w Words, _ string) Draft {
			_, w.Text, _ = strings.Cut(w.Text, ":")
			return fill(w)
		})
	Serve(servers["reporting"], "submit_verification_answers", "Puts answers into the draft.",
		func(w Words, _ string) Draft { return fill(w) })
	var mailed sync.Map
	Serve(servers["reporting"], "generate_final_report", "Writes the final report and mails it.",
		func(f Final, key string) map[string]string {
			id := fmt.Sprintf("HAP-%.4x", sha256.Sum256([]byte(key)))
			text, err := runtime.Encode(f.Report)
			if _, again := mailed.LoadOrStore(id, true); err == nil && f.SendEmail && !again {
				say("[mail] %s %s", id, text)
			}
			return map[string]string{"report_id": id}
		})
	return servers
}

// Serve adds a tool to a server, or replaces it. run gets the key of the call.
func Serve[In, Out any](s *mcp.Server, name, doc string, run func(in In, key string) Out) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: doc},
		func(_ context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			key, _ := r.Params.Meta["idempotencyKey"].(string)
			return nil, run(in, key), nil
		})
}

// Connect returns a function that connects to a server in memory.
func Connect(s *mcp.Server) func(ctx context.Context) (mcp.Transport, error) {
	return func(ctx context.Context) (mcp.Transport, error) {
		here, there := mcp.NewInMemoryTransports()
		_, err := s.Connect(ctx, there, nil)
		return here, err
	}
}

// Script is the model if there is no real one: a few words of Dutch, and which tool follows which.
func Script(_ context.Context, r llm.Request) (llm.Response, error) {
	turns := r.Turns()
	last := turns[len(turns)-1]
	has := func(tool string) bool {
		return slices.ContainsFunc(r.Tools, func(t llm.Tool) bool {
			return strings.HasPrefix(t.Name, tool)
		})
	}
	switch {
	case has("transfer_to_"):
		for _, topic := range [][2]string{{"rapport", "reporting"}, {"regel", "regulation"},
			{"eerder", "history"}} {
			if strings.Contains(last.Text, topic[0]) {
				return calls("transfer_to_"+topic[1],
					map[string]string{"reason": "het gaat over " + topic[0]})
			}
		}
		return llm.Response{Text: "Vraag mij om een rapport, een regel of een eerder bezoek."}, nil
	case has("unavailable_"):
		return llm.Response{Text: "Dit is nu niet beschikbaar. Probeer het later opnieuw."}, nil
	case len(last.Results) == 0 && has("extract_"):
		return calls("extract_inspection_data", Words{Text: last.Text})
	case len(last.Results) == 0:
		return calls(r.Tools[0].Name, Words{Text: last.Text})
	}
	var known struct { // by the results so far
		Draft
		Verify bool   `json:"verify"`
		Found  string `json:"found"`
		ID     string `json:"report_id"`
	}
	for _, turn := range turns {
		for _, result := range turn.Results {
			_ = json.Unmarshal(result.Value, &known) // an answer is a text
		}
	}
	result, clarified := last.Results[0], turns[len(
		turns)-2].Calls[0].Name == "request_clarification"
	switch {
	case result.Failed:
		return llm.Response{Text: "Dat is niet gebeurd: " + result.String()}, nil
	case known.ID != "":
		return llm.Response{Text: "Rapport " + known.ID + " is klaar."}, nil
	case known.Found != "":
		return llm.Response{Text: known.Found}, nil
	case clarified && !strings.Contains(result.String(), "skips"):
		return calls("submit_verification_answers", Words{known.Report, result.String()})
	case known.Verify && !clarified && has("request_clarification"):
		return calls("request_clarification", map[string][]string{"questions": known.Questions})
	case known.Verify && !clarified:
		return llm.Response{Text: strings.Join(known.Questions, " ")}, nil
	}
	return calls("generate_final_report", Final{known.Report, true})
}

func calls(tool string, args any) (llm.Response, error) {
	data, err := runtime.Encode(args)
	return llm.Response{Calls: []llm.ToolCall{{ID: rand.Text(), Name: tool, Args: data}}}, err
}
