package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/templates"
)

// defaultSpec is looked for where no file is named.
const defaultSpec = "routes.yaml"

// maxRead is more than the largest spec that is accepted, so the limit is reported by the rule that
// knows it and an endless file is still not read to its end.
const maxRead = 33 << 20

// source is one spec on disk, and the folder its output may not leave.
type source struct {
	shown  string // path of the spec as messages show it, slash-separated
	file   string // absolute path of the spec
	base   string // its last element
	text   []byte
	root   string // absolute: the folder with go.mod, or the spec's own where there is none
	module bool   // root holds a go.mod
	folder string // of the spec, relative to root, slash-separated
	piped  bool   // the text came from standard input, and no file is written

	included []report.File    // the files that the spec includes
	refused  []report.Finding // why they cannot be taken
}

// source finds and reads the spec that the flags name; - is standard input, in place of the file
// routes.yaml of the folder.
func (p *program) source() (*source, error) {
	if p.opts.file != "-" {
		return openSource(p.opts.dir, p.opts.file)
	}
	text, err := io.ReadAll(io.LimitReader(p.stdin, maxRead))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	s, err := placeSource(p.opts.dir, defaultSpec)
	if err == nil {
		s.text, s.piped = text, true
		s.include(openBeside(s.home()))
	}
	return s, err
}

// openSource finds and reads the spec. A named file is taken relative to dir; with no name,
// routes.yaml is looked for in dir and above it, up to the folder with go.mod. The error says where
// it looked.
func openSource(dir, name string) (*source, error) {
	if name == "" {
		base, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if name, err = search(base); err != nil {
			return nil, err
		}
	}
	s, err := placeSource(dir, name)
	if err != nil {
		return nil, err
	}
	if s.text, err = readSpec(s.file); err == nil {
		s.include(openBeside(s.home()))
	}
	return s, err
}

// include reads the files that the spec includes.
func (s *source) include(open func(name string) ([]byte, error)) {
	s.included, s.refused = spec.ReadIncluded(s.shown, s.text, open)
}

// files are the texts of the spec, the main one first.
func (s *source) files() edit.Files {
	return append(edit.Files{{Name: s.shown, Text: s.text}}, s.included...)
}

// withFiles is the source with other texts.
func (s *source) withFiles(files edit.Files) *source {
	out := *s
	out.text, out.included = files[0].Text, files[1:]
	return &out
}

// fileText returns the text of a file of the spec, or nil.
func (s *source) fileText(name string) []byte {
	for _, f := range s.files() {
		if f.Name == name {
			return f.Text
		}
	}
	return nil
}

// makeWith makes a plan. Where files that the spec includes cannot be taken, it returns why.
func (s *source) makeWith(generate makeFunc) *generator.Result {
	if len(s.refused) > 0 {
		return &generator.Result{Source: s.text, Findings: slices.Clone(s.refused)}
	}
	return generate(s.shown, s.text, s.included...)
}

// resolve moves findings about the whole spec into the files that they are about.
func (s *source) resolve(findings []report.Finding) []report.Finding {
	if len(s.included) == 0 || len(findings) == 0 {
		return findings
	}
	findings = slices.Clone(findings)
	report.JoinFiles(s.files()...).Places.Resolve(s.shown, findings)
	return findings
}

// openBeside reads files of a folder and below it. A link that leads out of it is not followed.
func openBeside(folder string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, err
		}
		defer root.Close() //nolint:errcheck // nothing was written
		info, err := root.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() { // a pipe would be waited for
			return nil, errors.New("it is no regular file")
		}
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		return io.ReadAll(io.LimitReader(f, maxRead))
	}
}

// placeSource returns the spec of a name, which is taken relative to dir, without its text.
func placeSource(dir, name string) (*source, error) {
	base, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	file := name
	if !filepath.IsAbs(name) {
		file = filepath.Join(base, name)
	}
	s := &source{shown: shown(base, file), file: file, base: filepath.Base(file)}
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	s.root, s.module = moduleRoot(folder)
	if !s.module {
		s.root = folder
	}
	rel, err := filepath.Rel(s.root, folder)
	s.folder = filepath.ToSlash(rel)
	return s, err
}

// home is the absolute folder of the spec.
func (s *source) home() string { return filepath.Join(s.root, filepath.FromSlash(s.folder)) }

// at returns a path relative to the spec's folder as a path relative to the root. The result may
// lead outside of the root; the surveyor refuses that.
func (s *source) at(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(s.folder, name)
}

// display returns a path relative to the root as messages show it: beside the spec.
func (s *source) display(name string) string {
	rel, err := filepath.Rel(filepath.FromSlash(s.folder), filepath.FromSlash(name))
	if err != nil || path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(s.shown), filepath.ToSlash(rel))
}

// readSpec reads a file as far as any spec could reach.
func readSpec(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return text, nil
}

// search looks for routes.yaml from base upward. Without a module it looks nowhere else.
func search(base string) (string, error) {
	root, module := moduleRoot(base)
	for dir := base; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, defaultSpec)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if !module {
			return "", fmt.Errorf("no %s in %s: name it with --file, or run routegen init",
				defaultSpec, base)
		}
		if dir == root {
			return "", fmt.Errorf(
				"no %s in %s nor above it, up to %s: name it with --file, or run routegen init",
				defaultSpec, base, root)
		}
	}
}

// moduleRoot returns the nearest folder with a go.mod, from dir upward, and whether there is one.
func moduleRoot(dir string) (string, bool) {
	for {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// shown returns a path relative to base where that is possible, slash-separated.
func shown(base, file string) string {
	if rel, err := filepath.Rel(base, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// prompts returns the prompt templates of a plan: those of the folder it names, over the shipped
// ones. A link that leads out of that folder is not followed: a template's text stands in reports.
func (s *source) prompts(p *plan.Plan) fs.FS {
	if p == nil || p.Prompts == "" {
		return templates.Prompts(nil)
	}
	module, err := os.OpenRoot(s.root)
	if err != nil {
		return templates.Prompts(closedFolder{err})
	}
	defer module.Close() //nolint:errcheck // nothing was written
	folder, err := module.OpenRoot(filepath.FromSlash(s.at(p.Prompts)))
	if err != nil {
		return templates.Prompts(closedFolder{err})
	}
	return templates.Prompts(folder.FS()) // closed when it is no longer used
}

// closedFolder is a folder that could not be opened.
type closedFolder struct{ err error }

// Open returns why the folder could not be opened.
func (f closedFolder) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
}
