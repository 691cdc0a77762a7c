package planner_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

func ExampleNew() {
	ctx := context.Background()
	machine, err := planner.New(planner.Config{
		Plan: func(_ context.Context, goal string) ([]string, error) {
			return []string{"look for " + goal, "write down " + goal}, nil
		},
		Execute: func(ctx context.Context, _ *planner.Plan, step string) (string, error) {
			return thread.Do(ctx, "do", func(context.Context, string) (string, error) {
				return "done: " + step, nil
			})
		},
		Replan: func(_ context.Context, p *planner.Plan, _ string) (planner.Replanned, error) {
			if len(p.Steps) > 0 {
				return planner.Replanned{Steps: p.Steps}, nil
			}
			var results []string
			for _, past := range p.Done {
				results = append(results, past.Result)
			}
			return planner.Replanned{Done: true, Answer: strings.Join(results, "; ")}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, machine)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Start(ctx,
		thread.Begin{ID: "p1", Machine: planner.Name, Input: "the key"}); err != nil {
		log.Fatal(err)
	}
	end, err := engine.Wait(ctx, "p1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(end.Result))
	_ = engine.Close(ctx)
	// Output: "done: look for the key; done: write down the key"
}
