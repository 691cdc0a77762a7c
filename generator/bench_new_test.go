package generator_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// timesOfFirst in the environment makes TestTimesOfFirst print its times.
const timesOfFirst = "ROUTEGEN_TIMES_OF_FIRST"

// TestTimesOfFirst is the process that BenchmarkFirst starts: what the 14-route system makes once
// in a process is made here, and timed.
func TestTimesOfFirst(t *testing.T) {
	if os.Getenv(timesOfFirst) == "" {
		t.Skip("run by BenchmarkFirst in a process of its own")
	}
	began := time.Now()
	program := routes.New(routes.UnimplementedHandlers{})
	made := time.Since(began)
	require.NotEmpty(t, program.Tables.Routes)

	set := routes.AllRoutes().Only(routes.RouteReview)
	began = time.Now()
	text := routes.InterruptRoutingSchema(set, runtime.OpenAI)
	narrowed := time.Since(began)
	require.NotEmpty(t, text)
	t.Logf("times: %s %s", made, narrowed)
}

// BenchmarkFirst reports what the first New of a process costs, and the first schema of a dialect,
// which reads its file: medians of many processes.
func BenchmarkFirst(b *testing.B) {
	program, err := os.Executable()
	require.NoError(b, err)
	var made, narrowed []time.Duration
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), program, "-test.run=^TestTimesOfFirst$", "-test.v")
		cmd.Env = append(os.Environ(), timesOfFirst+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
		_, line, found := strings.Cut(string(out), "times: ")
		require.True(b, found, "%s", out)
		fields := strings.Fields(line)
		for i, times := range []*[]time.Duration{&made, &narrowed} {
			d, err := time.ParseDuration(fields[i])
			require.NoError(b, err)
			*times = append(*times, d)
		}
	}
	slices.Sort(made)
	slices.Sort(narrowed)
	b.ReportMetric(made[len(made)/2].Seconds()*1e3, "ms-new")
	b.ReportMetric(narrowed[len(narrowed)/2].Seconds()*1e3, "ms-schema")
}
