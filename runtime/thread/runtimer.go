package thread

import (
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime"
)

// wakeDriverAt has the driver check its thread at a time, if the run lasts until then. It reports
// false if the run has ended.
func (r *stepRun) wakeDriverAt(at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state.hasEnded() {
		r.wakeAt = at
		r.setTimer()
	}
	return !r.state.hasEnded()
}

// setTimer sets the timer to the earliest of the run's times. It needs r.mu.
func (r *stepRun) setTimer() {
	var next time.Time
	for _, at := range [...]time.Time{r.until, r.keepAt, r.wakeAt} {
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	if !next.IsZero() {
		r.timer.Reset(time.Until(next))
	}
}

// tick is called when one of the times has come: it commits fresh effects, wakes the driver, or
// ends the run.
func (r *stepRun) tick() {
	r.mu.Lock()
	if r.state.hasEnded() {
		r.mu.Unlock()
		return
	}
	now := time.Now()
	came := func(at *time.Time) bool {
		if at.IsZero() || now.Before(*at) {
			return false
		}
		*at = time.Time{}
		return true
	}
	keep, wake, late := came(&r.keepAt), came(&r.wakeAt), came(&r.until)
	if late {
		r.late = &runtime.Error{Code: runtime.CodeUnavailable, Op: "run step",
			Err: fmt.Errorf("it ran longer than %s", r.limit)}
	}
	r.setTimer()
	cause := r.late
	r.mu.Unlock()
	if late {
		r.cancelStep(cause)
	}
	switch {
	case keep:
		r.driver.push(&command{urgent: true})
	case wake:
		r.driver.wake()
	}
}
