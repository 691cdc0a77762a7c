//go:build unix

// Package killloop kills processes that serve threads of every machine over one file, while
// people use them over HTTP, and holds what is stored to what was acknowledged and to what
// happened outside.
package killloop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	seedEnv    = "ROUTEGEN_PROOF_SEED"
	storiesEnv = "ROUTEGEN_PROOF_STORIES" // how many threads a failure tells of; default: 1
)

// seeded returns random numbers. The same seed makes the same choices; what happens at the
// same time differs all the same.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if set := os.Getenv(seedEnv); set != "" {
		var err error
		seed, err = strconv.ParseUint(set, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("the kills are those of %s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// TestKillLoop plays every setup.
func TestKillLoop(t *testing.T) { //nolint:tparallel // one setup after the other
	t.Parallel()
	random := seeded(t)
	kills, acked, effects, again, doubts, faults := 0, 0, 0, 0, 0, 0
	for _, s := range setups() {
		t.Run(s.name, func(t *testing.T) {
			for left := loopKills; left > 0; left -= roundKills {
				a := play(t, s, rand.New(rand.NewPCG(random.Uint64(), 1)), min(left, roundKills))
				kills, acked, effects = kills+min(left, roundKills), acked+len(a.acks),
					effects+len(a.marks)
				again, doubts, faults = again+a.again, doubts+a.doubts, faults+len(a.faults)
				if len(a.faults) > 0 {
					a.tell()
				}
			}
		})
	}
	t.Logf("%d kills, %d acknowledged, %d effects, %d of Do again, %d of Once in doubt, %d "+
		"violations",
		kills, acked, effects, again, doubts, faults)
	require.Zero(t, faults)
	require.Greater(t, acked, kills, "the processes worked")
}

// play has people use the processes of a setup while they are killed, brings everything to its
// end, and checks it.
func play(t *testing.T, s setup, random *rand.Rand, kills int) *audit {
	t.Helper()
	const people = 6
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	h := newCluster(ctx, t, s)
	h.all((*slot).up)
	c := newCrowd(h)
	ended := make(chan struct{})
	var all sync.WaitGroup
	for range people {
		p := &person{crowd: c, random: rand.New(rand.NewPCG(random.Uint64(), 1))}
		all.Go(func() { p.live(ended) })
	}
	h.storm(random, kills)
	close(ended)
	all.Wait()
	stuck := (&person{crowd: c, random: random}).finish()
	h.leave()
	return check(t, c, stuck)
}

// tell says what is wrong, and what happened to the first thread that is not as it should be.
func (a *audit) tell() {
	a.t.Helper()
	for _, text := range a.faults[:min(20, len(a.faults))] {
		a.t.Errorf("%s", text)
	}
	a.t.Errorf("%d violations with eager %s, one name: %t", len(a.faults), a.eager, a.shared)
	told := map[string]bool{}
	for _, text := range a.faults {
		id, _, _ := strings.Cut(text, ":")
		if !told[id] && len(told) < mostStories() {
			told[id] = true
			a.t.Logf("%s:\n%s", id, a.story(id))
		}
	}
}

// mostStories is how many threads a failure tells of.
func mostStories() int {
	most, err := strconv.Atoi(os.Getenv(storiesEnv))
	if err != nil {
		return 1
	}
	return most
}

// TestKillLoopSeesAStoreThatDoesNotCompare is the control: the loser of a race for a commit is
// told that it won.
func TestKillLoopSeesAStoreThatDoesNotCompare(t *testing.T) {
	t.Parallel()
	control(t, setup{procs: 2, control: controlNoFence}, "is lost")
}

// TestKillLoopSeesAnEffectThatIsNotIntended is the control: an effect of Once begins before
// that is stored.
func TestKillLoopSeesAnEffectThatIsNotIntended(t *testing.T) {
	t.Parallel()
	control(t, setup{procs: 2, control: controlNoIntent}, "times were ordered")
}

// control plays until the check sees the violation.
func control(t *testing.T, s setup, wants string) {
	t.Helper()
	random := seeded(t)
	const rounds = 5
	for n := range rounds {
		a := play(t, s, rand.New(rand.NewPCG(random.Uint64(), 1)), 8)
		if text := strings.Join(a.faults, "\n"); strings.Contains(text, wants) {
			t.Logf("%d violations in round %d, such as: %s", len(a.faults), n+1, a.faults[0])
			return
		}
	}
	require.Fail(t, fmt.Sprintf("nothing was seen in %d rounds", rounds))
}
