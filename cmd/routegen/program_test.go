package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
)

// TestMain lets scripts run the program as a command, and benchmarks the least that any generator
// has to do. Three variables of a script make it a program in trouble: ROUTEGEN_TEST_BREAK gives it
// a defect, ROUTEGEN_TEST_DISK a disk that fails, and ROUTEGEN_TEST_LIMIT the time in which it has
// to answer.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ROUTEGEN_BENCH_FLOOR"); dir != "" {
		if err := floorMain(dir); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testscript.Main(m, map[string]func(){
		"routegen": func() {
			p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
				generate: generator.Generate, disk: openDisk}
			switch os.Getenv("ROUTEGEN_TEST_BREAK") {
			case "output":
				p.generate = brokenGenerate
			case "panic":
				p.generate = func(string, []byte, ...report.File) *generator.Result {
					panic("index out of range")
				}
			}
			if fault := os.Getenv("ROUTEGEN_TEST_DISK"); fault != "" {
				p.disk = func(root *os.Root) disk { return failingDisk(rootDisk{root}, fault) }
			}
			if limit := os.Getenv("ROUTEGEN_TEST_LIMIT"); limit != "" {
				answerWithin(limit)
			}
			os.Exit(int(p.execute(context.Background(), os.Args[1:])))
		},
	})
}

// brokenGenerate adds a declaration that does not compile to one Go file.
func brokenGenerate(name string, src []byte, included ...report.File) *generator.Result {
	r := generator.Generate(name, src, included...)
	for file, text := range r.Files {
		if strings.HasSuffix(file, "/routes_gen.go") {
			r.Files[file] = append(bytes.Clone(text), "\nvar broken int = \"text\"\n"...)
		}
	}
	return r
}

// TestScripts runs the scripts in testdata/script. Under the race detector, which makes a program
// ten times as slow, it runs the one in which several goroutines work: generating.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := scripts(t, "testdata/script")
	if raced {
		p.Files = []string{filepath.Join(p.Dir, "generate.txtar")}
		p.Dir = ""
	}
	testscript.Run(t, p)
}

// scripts says how the scripts of a folder run: each in a module of its own that requires this one
// by path. Where ROUTEGEN_UPDATE is set, what a script compares with is replaced by what the
// program says now.
func scripts(t *testing.T, dir string) testscript.Params {
	t.Helper()
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	env := goEnv(t)
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("ROUTEGEN_UPDATE") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"snapshot":  snapshot,
			"unchanged": unchanged,
			"lastline":  lastLine,
			"badspec":   badSpec,
			"unescape":  unescape,
		},
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			e.Vars = append(e.Vars, "REPO="+repo, "GITHUB_ACTIONS=", "NO_COLOR=")
			// git knows nothing of this machine
			e.Vars = append(e.Vars, "GIT_CONFIG_NOSYSTEM=1",
				"GIT_CEILING_DIRECTORIES="+filepath.Dir(e.WorkDir))
			return writeConsumer(e.WorkDir, repo)
		},
	}
}

// goEnv lets the go command in a script use the caches of the one that runs the test, and no
// network. Modules that no package of this platform imports are fetched before: the go command
// looks into them for a package that it does not find.
func goEnv(t *testing.T) []string {
	t.Helper()
	fetch := exec.CommandContext(t.Context(), "go", "mod", "download")
	fetch.Dir = filepath.Join("..", "..")
	said, err := fetch.CombinedOutput()
	require.NoError(t, err, "%s", said)
	out, err := exec.CommandContext(t.Context(), "go", "env", "-json", "GOCACHE", "GOMODCACHE",
		"GOPATH").Output()
	require.NoError(t, err)
	values := map[string]string{}
	require.NoError(t, json.Unmarshal(out, &values))
	env := []string{"GOPROXY=off", "GONOSUMDB=*", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local",
		"GOWORK=off", "CGO_ENABLED=0"}
	for k, v := range values {
		env = append(env, k+"="+v)
	}
	return env
}

// consumer makes a folder a module that requires this one by path.
func consumer(tb testing.TB, dir, repo string) {
	tb.Helper()
	require.NoError(tb, writeConsumer(dir, repo))
}

// writeConsumer writes a go.mod and go.sum that require this module by path, with all it requires,
// unless the script has a module of its own.
func writeConsumer(dir, repo string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	if err != nil {
		return err
	}
	_, requires, _ := strings.Cut(string(mod), "\nrequire")
	text := "module example.com/app\n\ngo 1.26.0\n\nrequire github.com/routegen/routegen " +
		"v0.0.0\n\nreplace github.com/routegen/routegen => " + repo +
		"\n\ntool github.com/routegen/routegen/cmd/routegen\n\nrequire" + requires
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
}

// exits runs a command and asserts its exit code: exits CODE COMMAND [ARG...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// tracked describes the work folder: every file with its size and when it was written, every folder
// by its name alone.
func tracked(ts *testscript.TestScript) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(name string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && e.Name() == ".tmp" {
			return fs.SkipDir // temporary files of the commands themselves
		}
		if err != nil || strings.HasSuffix(name, ".snapshot") {
			return err
		}
		if e.IsDir() {
			fmt.Fprintf(&b, "%s/\n", name)
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	}))
	return b.String()
}

// snapshot remembers the work folder under a name.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot NAME")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".snapshot"), []byte(tracked(ts)), 0o644))
}

// unchanged asserts that no file was written, made or removed since a snapshot.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: unchanged NAME")
	}
	was := ts.ReadFile(args[0] + ".snapshot")
	if same := was == tracked(ts); same == neg {
		ts.Fatalf("unchanged is %v\nwas:\n%s\nis:\n%s", same, was, tracked(ts))
	}
}

// lastLine asserts what the last line on standard error holds.
func lastLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lastline TEXT")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stderr")), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, args[0]) {
		ts.Fatalf("the last line is %q, want %q in it", last, args[0])
	}
}
