//go:build unix

package killloop

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// complete is the phase in which the orchestrator ends the work.
const complete = "COMPLETE"

// replies is what the model says: where an interrupt goes on, what an agent of a fan-out
// returns, and the end.
const replies = `[
  {"for": "OrchestratorRouting",
    "reply": {"discoveryOrchestratorRequest": {"goal": "look around"}}},
  {"for": "InterruptRouting", "shows": "\"discoveryOrchestratorRequest\"",
    "reply": {"discoveryOrchestratorRequest": {"goal": "look again"}}},
  {"for": "InterruptRouting", "shows": "\"orchestratorRequest\"",
    "reply": {"orchestratorRequest": {"goal": "from the start", "phase": "DISCOVERY"}}},
  {"for": "DiscoveryAgentRouting",
    "reply": {"agentResult": {"output": "seen", "report": {
      "schemaVersion": "1", "resultId": "ak:00000000000000000000000000",
      "upstreamContextId": "ak:00000000000000000000000000", "fileReferences": [], "crossLinks": [],
      "semanticTags": [], "generatedQueries": [], "diagrams": [], "architectureOverview": "",
      "keyPatterns": [], "integrationPoints": [], "relevanceScores": {}, "memoryReferences": []}}}}
]`

// workflow makes the machine of the shipped system, with a scripted model.
func (w *worker) workflow() (*workflow.Machine, error) {
	script, err := scripted.Model("", []byte(replies))
	if err != nil {
		return nil, err
	}
	program := routes.New(nodes{w: w})
	prompts, err := prompt.New(&program, templates.Prompts(nil))
	if err != nil {
		return nil, err
	}
	return workflow.New(program, workflow.Config{Model: model{script, w.out}, Prompts: prompts})
}

// model is a scripted model whose calls stand in the ledger.
type model struct {
	llm.Model

	out *ledger
}

// Generate replies by the script.
func (m model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if _, err := m.out.effect("")(ctx, r.Key); err != nil {
		return llm.Response{}, err
	}
	return m.Model.Generate(ctx, r)
}

// nodes are the handlers: the orchestrator hands over to the discovery orchestrator, which
// asks a person, acts on the answer, and sends two agents out. One of them asks too. Then the
// orchestrator ends the work.
type nodes struct {
	routes.UnimplementedHandlers

	w *worker
}

func (n nodes) Orchestrator(ctx context.Context, c runtime.Call, r *routes.OrchestratorRequest,
) (*routes.OrchestratorRouting, error) {
	if r.Phase == complete {
		if _, err := n.w.once(ctx, ""); err != nil {
			return nil, err
		}
		return &routes.OrchestratorRouting{InterruptRequest: &routes.OrchestratorInterruptRequest{
			Type: routes.InterruptTypePrune, Reason: "that is all",
		}}, nil
	}
	return workflow.Choose[routes.OrchestratorRouting](ctx, c, r)
}

// told is the answer that led to a node; "" when none did.
func told(c runtime.Call) string {
	var text string
	_ = json.Unmarshal(c.Answer, &text) // the loop gives no answer of another form
	return text
}

func (n nodes) DiscoveryOrchestrator(ctx context.Context, c runtime.Call,
	r *routes.DiscoveryOrchestratorRequest,
) (*routes.DiscoveryOrchestratorRouting, error) {
	said := told(c)
	if said == "" {
		if _, err := n.w.do(ctx, "look", ""); err != nil {
			return nil, err
		}
		asks := &routes.DiscoveryOrchestratorInterruptRequest{
			Type: routes.InterruptTypeHumanReview, Reason: "Which part?",
		}
		return &routes.DiscoveryOrchestratorRouting{InterruptRequest: asks}, nil
	}
	if _, err := n.w.do(ctx, "note", said); err != nil {
		return nil, err
	}
	if _, err := n.w.once(ctx, said); err != nil {
		return nil, err
	}
	part := func(name string) routes.DiscoveryAgentRequest {
		return routes.DiscoveryAgentRequest{Goal: r.Goal, SubdomainFocus: name}
	}
	return &routes.DiscoveryOrchestratorRouting{AgentRequests: &routes.DiscoveryAgentRequests{
		Goal: r.Goal, DelegationRationale: "two parts",
		Requests: []routes.DiscoveryAgentRequest{part("quiet"), part("asks")},
	}}, nil
}

func (n nodes) DiscoveryAgent(ctx context.Context, c runtime.Call, r *routes.DiscoveryAgentRequest,
) (*routes.DiscoveryAgentRouting, error) {
	said := told(c)
	if said == "" && r.SubdomainFocus == "asks" {
		ask := &routes.DiscoveryAgentInterruptRequest{
			Type: routes.InterruptTypeHumanReview, Reason: "How deep?",
		}
		return &routes.DiscoveryAgentRouting{InterruptRequest: ask}, nil
	}
	if _, err := n.w.once(ctx, said); err != nil {
		return nil, err
	}
	return workflow.Choose[routes.DiscoveryAgentRouting](ctx, c, r)
}

func (nodes) DiscoveryDispatch(_ context.Context, c runtime.Call, r *routes.DiscoveryAgentRequests,
) (*routes.DiscoveryAgentDispatchRouting, error) {
	all := &routes.DiscoveryCollectorRequest{Goal: r.Goal, DiscoveryResults: string(c.Results)}
	return &routes.DiscoveryAgentDispatchRouting{CollectorRequest: all}, nil
}

func (nodes) DiscoveryCollector(_ context.Context, _ runtime.Call,
	r *routes.DiscoveryCollectorRequest,
) (*routes.DiscoveryCollectorRouting, error) {
	next := &routes.OrchestratorRequest{Goal: r.Goal, Phase: complete}
	return &routes.DiscoveryCollectorRouting{OrchestratorRequest: next}, nil
}
