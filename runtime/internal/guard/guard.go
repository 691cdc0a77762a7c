// Package guard calls user code (tools, validators, models) with a time limit and turns panics
// into errors.
package guard

import (
	"context"
	"errors"
	"time"

	"github.com/routegen/routegen/runtime"
)

// The errors of calls that did not return by themselves.
var (
	ErrLate  = errors.New("it took too long")
	ErrPanic = errors.New("panic")
)

// RunLimited runs fn in a goroutine with a time limit. It returns when fn returns, the limit passes
// or ctx ends; a function that ignores its context keeps running then, and its result is dropped.
// It returns CodeUnavailable with ErrLate after the limit and CodeInternal with ErrPanic after a
// panic; op names the call in both. Otherwise the error is that of fn or of ctx.
func RunLimited[T any](ctx context.Context, op string, limit time.Duration,
	fn func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	returned := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = runtime.Errorf(runtime.CodeInternal, op, "%w: %v", ErrPanic, p)
			}
			returned <- o
		}()
		o.value, o.err = fn(inner)
	}()
	var o outcome
	select {
	case o = <-returned:
	case <-inner.Done():
		select {
		case o = <-returned: // fn returned at the same time
		default:
			o.err = inner.Err()
		}
	}
	if o.err != nil && ctx.Err() == nil && errors.Is(inner.Err(), context.DeadlineExceeded) {
		o.err = runtime.Errorf(runtime.CodeUnavailable, op, "%w: more than %s", ErrLate, limit)
	}
	return o.value, o.err
}
