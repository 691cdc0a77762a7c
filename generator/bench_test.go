package generator_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	googlejsonschema "github.com/google/jsonschema-go/jsonschema"
	invopop "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/generatortest"
	"github.com/routegen/routegen/runtime"
)

// BenchmarkGenerate times spec, plan and emit in one process, without the program around them.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{14, 140, 1400} {
		src := generatortest.Synthetic(n)
		b.Run(fmt.Sprintf("routes=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if generator.Generate("routes.yaml", src).Files == nil {
					b.Fatal("the synthetic spec has errors")
				}
			}
		})
	}
}

// BenchmarkSelect times finding the one branch that is set, beside the way that needs no generated
// code.
func BenchmarkSelect(b *testing.B) {
	request := &routes.TicketCollectorRequest{Goal: "ship"}
	routing := &routes.InterruptRouting{TicketCollectorRequest: request}
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if branch, err := routing.Selected(); err != nil || branch.Value == nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("route", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if routing.Route() != routes.RouteTicketCollector {
				b.Fatal("wrong route")
			}
		}
	})
	b.Run("reflect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if reflectSelected(routing) == nil {
				b.Fatal("nothing selected")
			}
		}
	})
}

// reflectSelected walks the struct: what a program without generated code does.
func reflectSelected(routing any) any {
	v := reflect.ValueOf(routing).Elem()
	var found any
	for _, f := range v.Fields() {
		if !f.IsNil() {
			if found != nil {
				return nil
			}
			found = f.Interface()
		}
	}
	return found
}

// BenchmarkSchema times the schema of narrowed interrupt routings, beside reflecting over the
// struct, pruning and marshalling.
func BenchmarkSchema(b *testing.B) {
	sets := []struct {
		name string
		set  routes.InterruptRouteSet
	}{
		{"one", routes.AllRoutes().Only(routes.RouteReview)},
		{"three", routes.AllRoutes().Only(routes.RouteReview, routes.RouteOrchestrator,
			routes.RouteDiscoveryDispatch)},
		{"thirteen", routes.AllRoutes().Without(routes.RouteTicketDispatch)},
		{"all", routes.AllRoutes()},
	}
	program := routes.New(routes.UnimplementedHandlers{})
	branches := program.Tables.Routings[0].Branches
	// Union remembers nothing: this is what a set costs when it is first asked for
	for _, n := range []int{3, 7, 13} {
		// empty, it is collected every 300 texts
		for name, heap := range map[string]int{"composed": 32 << 20, "composed-in-empty-heap": 0} {
			b.Run(fmt.Sprintf("%s=%d", name, n), func(b *testing.B) {
				held := make([]byte, heap)
				b.ReportAllocs()
				for b.Loop() {
					if program.Schemas.Union(branches[:n], runtime.OpenAI) == "" {
						b.Fatal("no schema")
					}
				}
				goruntime.KeepAlive(held)
			})
		}
		b.Run(fmt.Sprintf("copied=%d", n), func(b *testing.B) { // the memory alone
			text := program.Schemas.Union(branches[:n], runtime.OpenAI)
			b.ReportAllocs()
			for b.Loop() {
				if strings.Clone(text) == "" {
					b.Fatal("no schema")
				}
			}
		})
	}
	for _, s := range sets {
		b.Run(s.name+"/generated", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if routes.InterruptRoutingSchema(s.set, runtime.OpenAI) == "" {
					b.Fatal("no schema")
				}
			}
		})
		b.Run(s.name+"/reflect", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(reflectSchema(b, s.set)) == 0 {
					b.Fatal("no schema")
				}
			}
		})
	}
}

// reflectSchema reflects the whole union, takes away the routes outside the set and the definitions
// that nothing reaches any more, and marshals the rest.
func reflectSchema(b *testing.B, set routes.InterruptRouteSet) []byte {
	b.Helper()
	reflector := &invopop.Reflector{Anonymous: true}
	s := reflector.Reflect(&routes.InterruptRouting{})
	root := s.Definitions["InterruptRouting"]
	for route := range routes.AllRoutes().All() {
		if !set.Has(route) {
			root.Properties.Delete(route.Field())
		}
	}
	all, used := s.Definitions, map[string]bool{}
	var visit func(s *invopop.Schema)
	visit = func(s *invopop.Schema) {
		if s == nil {
			return
		}
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok && !used[name] {
			used[name] = true
			visit(all[name])
		}
		visit(s.Items)
		visit(s.AdditionalProperties)
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			visit(pair.Value)
		}
	}
	visit(root)
	for name := range all {
		if name != "InterruptRouting" && !used[name] {
			delete(all, name)
		}
	}
	text, err := json.Marshal(s)
	require.NoError(b, err)
	return text
}

// reply is a routing as a model sends it, 316 bytes long.
var reply = makeReply()

func makeReply() []byte {
	text :=
		`{"reviewRequest":{"content":"","criteria":"Every exported name says what it promises.","returnToDiscoveryCollector":{"goal":"Know the code base","discoveryResults":"Three modules, one of them without tests."}}}`
	pad := 316 - len(text)
	return []byte(strings.Replace(text, `"content":""`,
		`"content":"`+strings.Repeat("The change to be judged. ", 20)[:pad]+`"`, 1))
}

// BenchmarkDecode times the strict decoding of a model's reply with every check, beside decoding
// and validating with two JSON Schema validators.
func BenchmarkDecode(b *testing.B) {
	require.Len(b, reply, 316)
	allowed := routes.AllRoutes().Only(routes.RouteReview)
	schemaText := routes.InterruptRoutingSchema(allowed, runtime.Plain)
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v routes.InterruptRouting
			if err := v.DecodeReply(reply, allowed); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("santhosh-tekuri", func(b *testing.B) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText))
		require.NoError(b, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(b, compiler.AddResource("mem:///routing.json", doc))
		schema, err := compiler.Compile("mem:///routing.json")
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			var instance any
			require.NoError(b, json.Unmarshal(reply, &instance))
			if err := schema.Validate(instance); err != nil {
				b.Fatal(err)
			}
			var v plainRouting
			if err := json.Unmarshal(reply, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("google", func(b *testing.B) {
		var schema googlejsonschema.Schema
		require.NoError(b, json.Unmarshal([]byte(schemaText), &schema))
		resolved, err := schema.Resolve(nil)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			var instance map[string]any
			require.NoError(b, json.Unmarshal(reply, &instance))
			if err := resolved.Validate(instance); err != nil {
				b.Fatal(err)
			}
			var v plainRouting
			if err := json.Unmarshal(reply, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// plainRouting is the decoded part of the routing without the strict methods: what encoding/json
// alone fills.
type plainRouting struct {
	ReviewRequest *struct {
		Content                    string `json:"content"`
		Criteria                   string `json:"criteria"`
		ReturnToDiscoveryCollector *struct {
			Goal             string `json:"goal"`
			DiscoveryResults string `json:"discoveryResults"`
		} `json:"returnToDiscoveryCollector"`
	} `json:"reviewRequest"`
}

func TestBenchmarkReplyIsLegal(t *testing.T) {
	var v routes.InterruptRouting
	require.NoError(t, v.DecodeReply(reply, routes.AllRoutes()))
	require.True(t, slices.Contains([]routes.Route{routes.RouteReview}, v.Route()))
	require.Same(t, v.ReviewRequest, reflectSelected(&v))
}
