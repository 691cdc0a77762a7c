// Package foreign runs code that belongs to somebody else: tools, validators, models. Whatever it does, its caller goes on.
package foreign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime"
)

// What code comes to that does not end by itself.
var (
	ErrLate  = errors.New("it took too long")
	ErrPanic = errors.New("panic")
)

// Call runs fn with a time limit. It returns when the time is over or ctx ends, even if fn does not heed its context and runs on. A time that is
// over is CodeUnavailable with ErrLate, and a panic CodeInternal with ErrPanic; op names the call in both.
func Call[T any](ctx context.Context, op string, limit time.Duration, fn func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = &runtime.Error{Code: runtime.CodeInternal, Op: op, Err: fmt.Errorf("%w: %v", ErrPanic, p)}
			}
			ended <- o
		}()
		o.value, o.err = fn(inner)
	}()
	var o outcome
	select {
	case o = <-ended:
	case <-inner.Done():
		select {
		case o = <-ended: // in the last moment
		default:
			o.err = inner.Err()
		}
	}
	if o.err != nil && ctx.Err() == nil && errors.Is(inner.Err(), context.DeadlineExceeded) {
		o.err = &runtime.Error{Code: runtime.CodeUnavailable, Op: op, Err: fmt.Errorf("%w: more than %s", ErrLate, limit)}
	}
	return o.value, o.err
}
