package runtime

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The records that the reply of 316 bytes reaches, twice: read by their Go types, as generated
// records are, and by a method with one case a field, as generated records were read before they
// had rows alone. The second is what strict decoding is held to: at most 1.5 times its time.

type rowCollector struct {
	ContextID        string        `json:"contextId,omitempty"`
	WorktreeContext  *rowCollector `json:"worktreeContext,omitempty"`
	Goal             string        `json:"goal"`
	DiscoveryResults string        `json:"discoveryResults"`
	PreviousContext  *rowCollector `json:"previousContext,omitempty"`
}

type rowReview struct {
	ContextID                     string        `json:"contextId,omitempty"`
	WorktreeContext               *rowCollector `json:"worktreeContext,omitempty"`
	Content                       string        `json:"content"`
	Criteria                      string        `json:"criteria"`
	PreviousContext               *rowCollector `json:"previousContext,omitempty"`
	ReturnToOrchestratorCollector *rowCollector `json:"returnToOrchestratorCollector,omitempty"`
	ReturnToDiscoveryCollector    *rowCollector `json:"returnToDiscoveryCollector,omitempty"`
	ReturnToPlanningCollector     *rowCollector `json:"returnToPlanningCollector,omitempty"`
	ReturnToTicketCollector       *rowCollector `json:"returnToTicketCollector,omitempty"`
}

type rowRouting struct {
	OrchestratorRequest          *rowReview `json:"orchestratorRequest,omitempty"`
	DiscoveryOrchestratorRequest *rowReview `json:"discoveryOrchestratorRequest,omitempty"`
	PlanningOrchestratorRequest  *rowReview `json:"planningOrchestratorRequest,omitempty"`
	TicketOrchestratorRequest    *rowReview `json:"ticketOrchestratorRequest,omitempty"`
	ReviewRequest                *rowReview `json:"reviewRequest,omitempty"`
	MergerRequest                *rowReview `json:"mergerRequest,omitempty"`
	ContextManagerRequest        *rowReview `json:"contextManagerRequest,omitempty"`
	OrchestratorCollectorRequest *rowReview `json:"orchestratorCollectorRequest,omitempty"`
	DiscoveryCollectorRequest    *rowReview `json:"discoveryCollectorRequest,omitempty"`
	PlanningCollectorRequest     *rowReview `json:"planningCollectorRequest,omitempty"`
	TicketCollectorRequest       *rowReview `json:"ticketCollectorRequest,omitempty"`
	DiscoveryAgentRequests       *rowReview `json:"discoveryAgentRequests,omitempty"`
	PlanningAgentRequests        *rowReview `json:"planningAgentRequests,omitempty"`
	TicketAgentRequests          *rowReview `json:"ticketAgentRequests,omitempty"`
}

var (
	rowCollectorShape = Shape{Kind: ShapeRequest, Name: "Collector", Fields: []Field{
		{Name: "contextId", Hidden: true}, {Name: "worktreeContext", Hidden: true},
		{Name: "goal", Required: true}, {Name: "discoveryResults", Required: true},
		{Name: "previousContext", Hidden: true},
	}}
	rowReviewShape = Shape{Kind: ShapeRequest, Name: "Review", Fields: []Field{
		{Name: "contextId", Hidden: true}, {Name: "worktreeContext", Hidden: true},
		{Name: "content", Required: true}, {Name: "criteria", Required: true},
		{Name: "previousContext", Hidden: true}, {Name: "returnToOrchestratorCollector"},
		{Name: "returnToDiscoveryCollector"}, {Name: "returnToPlanningCollector"},
		{Name: "returnToTicketCollector"},
	}}
	rowRoutingShape = Shape{Kind: ShapeUnion, Name: "Routing", Fields: []Field{
		{Name: "orchestratorRequest"}, {Name: "discoveryOrchestratorRequest"},
		{Name: "planningOrchestratorRequest"}, {Name: "ticketOrchestratorRequest"},
		{Name: "reviewRequest"}, {Name: "mergerRequest"}, {Name: "contextManagerRequest"},
		{Name: "orchestratorCollectorRequest"}, {Name: "discoveryCollectorRequest"},
		{Name: "planningCollectorRequest"}, {Name: "ticketCollectorRequest"},
		{Name: "discoveryAgentRequests"}, {Name: "planningAgentRequests"},
		{Name: "ticketAgentRequests"},
	}}
)

func (*rowCollector) Shape() *Shape { return &rowCollectorShape }
func (*rowReview) Shape() *Shape    { return &rowReviewShape }
func (*rowRouting) Shape() *Shape   { return &rowRoutingShape }

type methodCollector struct {
	ContextID        string
	WorktreeContext  *methodCollector
	Goal             string
	DiscoveryResults string
	PreviousContext  *methodCollector
}

type methodReview struct {
	ContextID                     string
	WorktreeContext               *methodCollector
	Content                       string
	Criteria                      string
	PreviousContext               *methodCollector
	ReturnToOrchestratorCollector *methodCollector
	ReturnToDiscoveryCollector    *methodCollector
	ReturnToPlanningCollector     *methodCollector
	ReturnToTicketCollector       *methodCollector
}

type methodRouting struct {
	branches [14]*methodReview
}

var (
	methodCollectorShape = Shape{Kind: ShapeRequest, Name: "Collector",
		Fields: rowCollectorShape.Fields}
	methodReviewShape  = Shape{Kind: ShapeRequest, Name: "Review", Fields: rowReviewShape.Fields}
	methodRoutingShape = Shape{Kind: ShapeUnion, Name: "Routing", Fields: rowRoutingShape.Fields}
)

func (*methodCollector) Shape() *Shape { return &methodCollectorShape }
func (*methodReview) Shape() *Shape    { return &methodReviewShape }
func (*methodRouting) Shape() *Shape   { return &methodRoutingShape }

func methodString(d *Decoder, v *string) {
	field := d.takeRule()
	if text, ok := d.readText("a string"); ok {
		*v = string(text)
		field.checkText(d, *v)
	}
}

func methodCollectorOf(d *Decoder, v **methodCollector) {
	*v = new(methodCollector)
	d.readRecord(*v, valueOfMethods)
}

func methodReviewOf(d *Decoder, v **methodReview) {
	*v = new(methodReview)
	d.readRecord(*v, valueOfMethods)
}

// valueOfMethods is what the reader is given for a record that reads itself. It takes the type from
// it alone, and only to see that the record does; one type for all spares the baseline reflection.
var valueOfMethods = reflect.ValueOf(&methodCollector{}).Elem()

func (v *methodCollector) DecodeField(d *Decoder, name string) {
	switch name {
	case "contextId":
		methodString(d, &v.ContextID)
	case "worktreeContext":
		methodCollectorOf(d, &v.WorktreeContext)
	case "goal":
		methodString(d, &v.Goal)
	case "discoveryResults":
		methodString(d, &v.DiscoveryResults)
	case "previousContext":
		methodCollectorOf(d, &v.PreviousContext)
	}
}

func (v *methodReview) DecodeField(d *Decoder, name string) {
	switch name {
	case "contextId":
		methodString(d, &v.ContextID)
	case "worktreeContext":
		methodCollectorOf(d, &v.WorktreeContext)
	case "content":
		methodString(d, &v.Content)
	case "criteria":
		methodString(d, &v.Criteria)
	case "previousContext":
		methodCollectorOf(d, &v.PreviousContext)
	case "returnToOrchestratorCollector":
		methodCollectorOf(d, &v.ReturnToOrchestratorCollector)
	case "returnToDiscoveryCollector":
		methodCollectorOf(d, &v.ReturnToDiscoveryCollector)
	case "returnToPlanningCollector":
		methodCollectorOf(d, &v.ReturnToPlanningCollector)
	case "returnToTicketCollector":
		methodCollectorOf(d, &v.ReturnToTicketCollector)
	}
}

func (v *methodRouting) DecodeField(d *Decoder, name string) {
	switch name {
	case "orchestratorRequest":
		methodReviewOf(d, &v.branches[0])
	case "discoveryOrchestratorRequest":
		methodReviewOf(d, &v.branches[1])
	case "planningOrchestratorRequest":
		methodReviewOf(d, &v.branches[2])
	case "ticketOrchestratorRequest":
		methodReviewOf(d, &v.branches[3])
	case "reviewRequest":
		methodReviewOf(d, &v.branches[4])
	case "mergerRequest":
		methodReviewOf(d, &v.branches[5])
	case "contextManagerRequest":
		methodReviewOf(d, &v.branches[6])
	case "orchestratorCollectorRequest":
		methodReviewOf(d, &v.branches[7])
	case "discoveryCollectorRequest":
		methodReviewOf(d, &v.branches[8])
	case "planningCollectorRequest":
		methodReviewOf(d, &v.branches[9])
	case "ticketCollectorRequest":
		methodReviewOf(d, &v.branches[10])
	case "discoveryAgentRequests":
		methodReviewOf(d, &v.branches[11])
	case "planningAgentRequests":
		methodReviewOf(d, &v.branches[12])
	case "ticketAgentRequests":
		methodReviewOf(d, &v.branches[13])
	}
}

// BenchmarkDecodeBesideMethods reads the reply both ways in turns, and reports how many times the
// time of the methods the rows take: the median of all turns.
func BenchmarkDecodeBesideMethods(b *testing.B) {
	reply := []byte(`{"reviewRequest":{"content":"` + strings.Repeat("The change to be judged. ", 20)[:106] +
		`","criteria":"Every exported name says what it promises.","returnToDiscoveryCollector":` +
		`{"goal":"Know the code base","discoveryResults":"Three modules, one of them without tests."}}}`)
	require.Len(b, reply, 316)
	allowed := func(name string) bool { return name == "reviewRequest" }
	var rows rowRouting
	require.NoError(b, DecodeReply(reply, &rows, allowed))
	var methods methodRouting
	require.NoError(b, DecodeReply(reply, &methods, allowed))
	require.Equal(b, rows.ReviewRequest.ReturnToDiscoveryCollector.DiscoveryResults,
		methods.branches[4].ReturnToDiscoveryCollector.DiscoveryResults)

	const turn = 2000
	var ratios []float64
	for b.Loop() {
		began := time.Now()
		for range turn {
			var v methodRouting
			if err := DecodeReply(reply, &v, allowed); err != nil {
				b.Fatal(err)
			}
		}
		between := time.Now()
		for range turn {
			var v rowRouting
			if err := DecodeReply(reply, &v, allowed); err != nil {
				b.Fatal(err)
			}
		}
		ratios = append(ratios, float64(time.Since(between))/float64(between.Sub(began)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x")
}
