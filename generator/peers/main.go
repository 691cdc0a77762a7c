// Command peers compares the generator with others on equivalent specs: generation and compilation
// of all in turns, in one run. It writes the table of docs/benchmarks.md, or that a peer could not
// be built here. It is a module of its own, so that routegen requires none of them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	// what the output of oapi-codegen for a oneOf imports
	_ "github.com/oapi-codegen/runtime"

	"github.com/routegen/routegen/generator/generatortest"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) == 4 && os.Args[1] == "protoc" {
		if err := protoc(os.Args[2], os.Args[3]); err != nil {
			log.Fatal(err)
		}
		return
	}
	rounds := flag.Int("rounds", 3, "how often each is run")
	sizes := flag.String("sizes", "14,140,1400", "routes of the specs")
	doc := flag.String("doc", "../../docs/benchmarks.md", "the file that gets the table")
	flag.Parse()
	if err := run(*rounds, *sizes, *doc); err != nil {
		log.Fatal(err)
	}
}

// tool is a generator: how it is built, and how it is run on the spec in a folder.
type tool struct {
	name, pkg string
	generate  func(bin, dir string) *exec.Cmd
	output    string // the package, below the folder
	missing   error  // why it could not be built
	bin       string
}

func tools() []*tool {
	self, _ := os.Executable()
	return []*tool{
		{name: "routegen", pkg: "github.com/routegen/routegen/cmd/routegen",
			output: "generated/routes",
			generate: func(bin, dir string) *exec.Cmd {
				return exec.Command(bin, "-C", dir, "generate", "--no-verify")
			}},
		{name: "go-jsonschema", pkg: "github.com/atombender/go-jsonschema", output: "jsonschema",
			generate: func(bin, dir string) *exec.Cmd {
				return exec.Command(bin, "-p", "out", "-o",
					filepath.Join(dir, "jsonschema/out.go"), filepath.Join(dir, "schema.json"))
			}},
		openAPITool("oapi-codegen, routings as optional pointers", "openapi"),
		openAPITool("oapi-codegen, routings as oneOf", "openapi-sealed"),
		{name: "protoc-gen-go", pkg: "google.golang.org/protobuf/cmd/protoc-gen-go",
			output: "proto",
			generate: func(bin, dir string) *exec.Cmd {
				return exec.Command(self, "protoc", bin, dir)
			}},
		{name: "floor: types, sets, visitors and rows", output: "floor"},
	}
}

// openAPITool is oapi-codegen, types alone, on the OpenAPI document of that name.
func openAPITool(name, spec string) *tool {
	return &tool{name: name, pkg: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
		output: spec, generate: func(bin, dir string) *exec.Cmd {
			return exec.Command(bin, "-generate", "types,skip-prune", "-package", "out", "-o",
				filepath.Join(dir, spec, "out.go"), filepath.Join(dir, spec+".json"))
		}}
}

// figures are what one tool took on one size, a value a round.
type figures struct {
	generate, compile []time.Duration
	lines             int
	err               error
}

func run(rounds int, sizes, doc string) error {
	// a folder that go ignores where it is not named
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("testdata", "out")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	all := tools()
	for _, t := range all {
		t.bin, err = filepath.Abs(filepath.Join(work, "bin", filepath.Base(t.output)))
		if err != nil {
			return err
		}
		if t.pkg == "" {
			continue
		}
		build := exec.Command("go", "build", "-o", t.bin, t.pkg)
		if t == all[0] { // with the modules it is released with
			build.Dir = "../.."
		}
		t.missing = command(build)
	}
	if all[0].missing != nil {
		return all[0].missing
	}
	var out strings.Builder
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		found := make([]figures, len(all))
		dirs := make([]string, len(all))
		for i, t := range all {
			dirs[i] = filepath.Join(work, filepath.Base(t.output)+size)
			if err := writeSpecs(dirs[i], all[0].bin, n); err != nil {
				return err
			}
		}
		for range rounds {
			for i, t := range all {
				if t.missing == nil && found[i].err == nil {
					found[i].err = found[i].measure(t, dirs[i])
				}
			}
		}
		out.WriteString(table(n, all, found))
	}
	return write(doc, out.String())
}

// writeSpecs writes the spec of a size in all languages, and the folders for what comes out.
func writeSpecs(dir, routegen string, n int) error {
	for _, sub := range []string{"jsonschema", "openapi", "openapi-sealed", "proto", "floor"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	spec := filepath.Join(dir, "routes.yaml")
	if err := os.WriteFile(spec, generatortest.Synthetic(n), 0o644); err != nil {
		return err
	}
	if err := command(exec.Command(routegen, "-C", dir, "generate", "--no-verify")); err != nil {
		return err
	}
	plain, err := os.ReadFile(filepath.Join(dir, "generated/routes/schemas/plain.json"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "generated")); err != nil {
		return err
	}
	return translate(dir, plain, n)
}

// measure generates into an empty folder and compiles what came out, its imports built before.
func (f *figures) measure(t *tool, dir string) error {
	out := filepath.Join(dir, t.output)
	if t.generate != nil { // the floor is written once, with the specs
		if err := os.RemoveAll(out); err != nil {
			return err
		}
		if t.output != "generated/routes" {
			if err := os.Mkdir(out, 0o755); err != nil {
				return err
			}
		}
		start := time.Now()
		if err := command(t.generate(t.bin, dir)); err != nil {
			return err
		}
		f.generate = append(f.generate, time.Since(start))
	}
	files, err := filepath.Glob(filepath.Join(out, "*.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no Go came out: %w", err)
	}
	f.lines = 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f.lines += bytes.Count(text, []byte("\n"))
	}
	build := func() error { return command(exec.Command("go", "build", "./"+out)) }
	last := files[len(files)-1]
	text, err := os.ReadFile(last)
	if err != nil {
		return err
	}
	if len(f.compile) == 0 { // what it imports is compiled first, and not measured
		if err := build(); err != nil {
			return err
		}
	}
	// a comment that is new in each round: the compiler's cache knows nothing of it
	mark := fmt.Sprintf("\n// Round %d.\n", time.Now().UnixNano())
	if err := os.WriteFile(last, append(text, mark...), 0o644); err != nil {
		return err
	}
	start := time.Now()
	err = build()
	f.compile = append(f.compile, time.Since(start))
	return err
}

// command runs a process; what it printed is part of the error.
func command(c *exec.Cmd) error {
	text, err := c.CombinedOutput()
	if err != nil {
		last := text[max(0, len(text)-400):]
		return fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, bytes.TrimSpace(last))
	}
	return nil
}

func table(n int, all []*tool, found []figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d routes:\n\n| | generate, min / median | ours to it "+
		"| compile, min / median | ours to it | lines of Go | ours to it |\n"+
		"|---|---:|---:|---:|---:|---:|---:|\n", n)
	ours := &found[0]
	for i, t := range all {
		f := &found[i]
		if err := firstError(t.missing, f.err); err != nil {
			fmt.Fprintf(&b, "| %s | not measured: %s | | | | | |\n", t.name,
				strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "|", "/")), " "))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %.2f x |\n", t.name,
			both(f.generate), ratio(ours.generate, f.generate), both(f.compile),
			ratio(ours.compile, f.compile), f.lines, float64(ours.lines)/float64(f.lines))
	}
	return b.String()
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// median of nothing is 0.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

func both(d []time.Duration) string {
	if len(d) == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f / %.3f s", slices.Min(d).Seconds(), median(d).Seconds())
}

// ratio is that of the medians.
func ratio(ours, theirs []time.Duration) string {
	if len(ours) == 0 || len(theirs) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f x", median(ours).Seconds()/median(theirs).Seconds())
}

// write puts the tables between the marks of a file.
func write(doc, tables string) error {
	const begin, end = "<!-- peers -->\n", "<!-- end of peers -->\n"
	text, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the table: %q and %q", doc, begin, end)
	}
	return os.WriteFile(doc, []byte(before+begin+tables+"\n"+end+after), 0o644)
}
