package dialogue

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// TestCrashTestsDetectDuplicates is the control of [scene]: an action that heeds no key must be
// found out.
func TestCrashTestsDetectDuplicates(t *testing.T) {
	t.Parallel()
	play := func(w *world) {
		w.means("go", starts("buy"))
		w.means("vx", sets("x", "vx"))
		w.dialogue = runtime.Dialogue{Tables: charging("")}
		w.dialogue.Act = func(ctx context.Context, action int, _ string, input json.RawMessage) (
			json.RawMessage, error) {
			return w.act(ctx, action, "call "+strconv.Itoa(len(w.keys["charge"])+1), input)
		}
		w.open(w.dies)
		w.say("go")
		w.say("vx")
	}
	want, commits := played(t, "mem", everyStep, death{}, play)
	seen := 0
	for n := int64(1); n <= commits; n++ {
		if got, _ := played(t, "mem", everyStep, death{at: n}, play); got != want {
			seen++
		}
	}
	require.Positive(t, seen)
}
