package main

import (
	"context"
	"errors"
	"time"

	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// you is the person at the page.
const you = "you"

// place is an engine on a file, with its server.
type place struct {
	store  *sqlite.Store
	engine *thread.Engine
	server *web.Server
	seeds  []func(ctx context.Context) error // the threads to begin with
}

// newPlace opens a file. open starts the engine of the place, and returns the configuration of its
// server.
func newPlace(ctx context.Context, file, token string, open func(p *place) (web.Config, error)) (
	*place, error) {
	store, err := sqlite.Open(ctx, file, sqlite.Config{})
	if err != nil {
		return nil, err
	}
	p := &place{store: store}
	cfg, err := open(p)
	if err == nil {
		p.server, err = web.New(p.engine, token, cfg)
	}
	if err != nil {
		//nolint:contextcheck // it has to end after the context has
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *place) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var err error
	if p.engine != nil {
		err = p.engine.Close(ctx)
	}
	return errors.Join(err, p.store.Close())
}

// begin starts the first threads. It does nothing if the file has threads already.
func (p *place) begin(ctx context.Context) error {
	had, err := p.engine.Threads(ctx, thread.Query{Limit: 10})
	if err != nil || len(had) > 0 {
		return err
	}
	errs := make(chan error, len(p.seeds))
	for _, seed := range p.seeds {
		go func() { errs <- seed(ctx) }()
	}
	for range p.seeds {
		err = errors.Join(err, <-errs)
	}
	return err
}

// seed starts a thread and answers its questions in their order. It does not wait for what follows
// the last answer.
func (p *place) seed(begin thread.Begin, answers ...thread.Answer) {
	p.seeds = append(p.seeds, func(ctx context.Context) error {
		begin.User, begin.Request = you, begin.ID
		if _, err := p.engine.Start(ctx, begin); err != nil {
			return err
		}
		for _, a := range answers {
			if _, err := p.engine.Wait(ctx, begin.ID); err != nil {
				return err
			}
			a.By = you
			if _, err := p.engine.Answer(ctx, begin.ID, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// paced is a model that waits before each reply.
type paced struct {
	llm.Model
	time.Duration
}

// Generate waits, and then asks the model.
func (p paced) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	timer := time.NewTimer(p.Duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return p.Model.Generate(ctx, r)
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
}
