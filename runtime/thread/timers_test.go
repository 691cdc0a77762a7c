package thread_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Stored times are kept to the moment, whichever engine stored them, and not to the next look: also
// a later one that was known before an earlier one came.
func TestStoredTimesAreNotMissed(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Poll = time.Hour
		r.with(r.asker(thread.Question{Deadline: &runtime.Deadline{After: time.Minute,
			Then: "expire"}}))
		var ids []string
		for range 3 {
			ids = append(ids, r.start("asker", nil).ID)
			r.pass(10 * time.Second)
		}
		r.next()
		r.pass(29 * time.Second)
		for n := range ids { // after 59 seconds, 69 and 79
			for _, id := range ids[n:] {
				assert.Equal(r, thread.StatusWaiting, r.load(id).Status())
			}
			r.pass(2 * time.Second)
			assert.Equal(r, thread.StatusFailed, r.load(ids[n]).Status())
			r.pass(8 * time.Second)
		}
	})
}
