package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/generatortest"
)

// sizes are the numbers of routes that generation is measured at.
var sizes = []int{14, 140, 1400, 14000}

// floorMain does the two things that no generator of this shape can leave out, on the same bytes:
// read the spec into YAML nodes, and format the Go that comes out. The folder is that of a spec
// that was generated before.
func floorMain(dir string) error {
	src, err := os.ReadFile(filepath.Join(dir, "routes.yaml"))
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "generated/routes/*_gen.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := format.Source(text); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkGenerate times the whole program, process start included, on specs of growing size, each
// beside its floor. The ratio is what to compare over machines; ns/op is the program's own time.
func BenchmarkGenerate(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "routegen")
	out, err := exec.CommandContext(b.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(b, err, string(out))
	self, err := os.Executable()
	require.NoError(b, err)
	for _, routes := range sizes {
		b.Run(fmt.Sprintf("routes=%d", routes), func(b *testing.B) {
			against(b, bin, self, generatortest.Synthetic(routes), routes, "µs/route")
		})
	}
	for _, flows := range []int{20, 200, 2000} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			against(b, bin, self, generatortest.SyntheticFlows(flows), flows, "µs/flow")
		})
	}
}

// against times the program and its floor on one spec, in turn.
func against(b *testing.B, bin, self string, spec []byte, things int, unit string) {
	b.Helper()
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "go.mod"),
		[]byte("module example.com/bench\n\ngo 1.26\n"), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "routes.yaml"), spec, 0o600))
	var own, floor, peak float64
	for range b.N {
		b.StopTimer()
		require.NoError(b, os.RemoveAll(filepath.Join(dir, "generated")))
		b.StartTimer()
		took, memory := timed(b, exec.CommandContext(b.Context(), bin, "-C", dir, "generate",
			"--no-verify", "-q"))
		b.StopTimer()
		base, _ := timed(b, floorCommand(b, self, dir))
		b.StartTimer()
		own, floor, peak = own+took.Seconds(), floor+base.Seconds(), max(peak, memory)
	}
	b.ReportMetric(own/floor, "x-floor")
	b.ReportMetric(peak, "peak-MiB")
	b.ReportMetric(own/float64(b.N)/float64(things)*1e6, unit)
}

// BenchmarkReview times what a pull request costs, process start included: diff and breaking
// against an earlier spec, each beside check of the same one.
func BenchmarkReview(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "routegen")
	out, err := exec.CommandContext(b.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(b, err, string(out))
	for _, routes := range sizes[:3] {
		dir := b.TempDir()
		was := generatortest.Synthetic(routes)
		now := bytes.Replace(was, []byte("doc: "), []byte("doc: Now "), 1)
		require.NoError(b, os.WriteFile(filepath.Join(dir, "was.yaml"), was, 0o600))
		require.NoError(b, os.WriteFile(filepath.Join(dir, "routes.yaml"), now, 0o600))
		require.NoError(b, exec.CommandContext(b.Context(), bin, "-C", dir, "generate",
			"--no-verify", "-q").Run())
		for _, verb := range []string{"diff", "breaking"} {
			b.Run(fmt.Sprintf("%s/routes=%d", verb, routes), func(b *testing.B) {
				var own, check float64
				for range b.N {
					took, _ := timed(b, exec.CommandContext(b.Context(), bin, "-C", dir, verb,
						"--against", "was.yaml", "-q"))
					b.StopTimer()
					base, _ := timed(b, exec.CommandContext(b.Context(), bin, "-C", dir, "check",
						"-q"))
					b.StartTimer()
					own, check = own+took.Seconds(), check+base.Seconds()
				}
				b.ReportMetric(own/check, "x-check")
			})
		}
	}
}

// floorCommand is this test binary, started as floorMain: the floor pays for a process too.
func floorCommand(b *testing.B, self, dir string) *exec.Cmd {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Env = append(os.Environ(), "ROUTEGEN_BENCH_FLOOR="+dir)
	return cmd
}

// timed runs a command and returns its wall time and its peak memory in MiB.
func timed(b *testing.B, cmd *exec.Cmd) (time.Duration, float64) {
	b.Helper()
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	start := time.Now()
	require.NoError(b, cmd.Run())
	took := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(b, ok)
	return took, float64(usage.Maxrss) / 1024
}

// BenchmarkBuild times what the output costs its users: one `go build` of the generated package
// alone, its imports built before, and the size of the archive it makes.
func BenchmarkBuild(b *testing.B) {
	repo, err := filepath.Abs("../..")
	require.NoError(b, err)
	for _, routes := range sizes[:3] {
		b.Run(fmt.Sprintf("routes=%d", routes), func(b *testing.B) {
			dir := b.TempDir()
			consumer(b, dir, repo)
			require.NoError(b, os.WriteFile(filepath.Join(dir, "routes.yaml"),
				generatortest.Synthetic(routes), 0o600))
			p := &program{stdout: io.Discard, stderr: io.Discard, getenv: os.Getenv,
				generate: generator.Generate, disk: openDisk}
			require.Zero(b, p.execute(b.Context(), []string{"-C", dir, "generate", "--no-verify"}))
			archive := filepath.Join(dir, "routes.a")
			changed := filepath.Join(dir, "generated/routes/routes_gen.go")
			build := func() {
				cmd := exec.CommandContext(b.Context(), "go", "build", "-o", archive,
					"./generated/routes")
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
				timed(b, cmd)
			}
			build()
			for i := 0; b.Loop(); i++ {
				b.StopTimer() // another text, so that the build cache does not answer
				text, err := os.ReadFile(changed)
				require.NoError(b, err)
				require.NoError(b, os.WriteFile(changed, fmt.Appendf(text, "\n// Build %d.\n", i),
					0o600))
				b.StartTimer()
				build()
			}
			info, err := os.Stat(archive)
			require.NoError(b, err)
			b.ReportMetric(float64(info.Size())/1024, "KiB-archive")
		})
	}
}
