package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/templates"
)

// gitPrompts returns what the prompt templates of a plan said in the revision that its spec is
// from, by name: those of the folder it named, over the shipped ones, which are those of this
// program. One that is in neither is left out.
func gitPrompts(ctx context.Context, folder, ref string, p *plan.Plan) (map[string]string, error) {
	texts, names := map[string]string{}, []string(nil)
	shipped := templates.Prompts(nil)
	for _, n := range p.Nodes {
		if n.Prompt == nil {
			continue
		}
		name := n.Template
		names = append(names, name)
		if text, err := fs.ReadFile(shipped, name+".tmpl"); err == nil {
			texts[name] = string(text)
		}
	}
	if p.Prompts == "" || len(names) == 0 {
		return texts, nil
	}
	beside := besideSpec(ref, namesFile(ctx, folder, ref))
	var asked bytes.Buffer
	for _, name := range names {
		fmt.Fprintln(&asked, beside(path.Join(p.Prompts, name+".tmpl")))
	}
	// One process for all of them: a large system has a thousand.
	out, _, err := git(ctx, folder, &asked, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	answers := bufio.NewReader(bytes.NewReader(out))
	for _, name := range names {
		text, ok, err := nextBlob(answers)
		if err != nil {
			return nil, err
		}
		if ok {
			texts[name] = text
		}
	}
	return texts, nil
}

// besideSpec names files in a revision, by their path from the folder of the spec; named says that
// the revision is REV:path, the spec itself.
func besideSpec(ref string, named bool) func(name string) string {
	if !named {
		return func(name string) string { return ref + ":./" + name }
	}
	commit, file, _ := strings.Cut(ref, ":")
	relative := "" // to the folder, or to the top of the repository
	if strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		relative = "./"
	}
	return func(name string) string {
		return commit + ":" + relative + path.Join(path.Dir(file), name)
	}
}

// nextBlob reads one answer of git cat-file --batch: a line with id, type and size, then the text
// and a line end; or one line alone that says that there is no such file.
func nextBlob(from *bufio.Reader) (text string, ok bool, err error) {
	head, err := from.ReadString('\n')
	if err != nil {
		return "", false, err
	}
	var id, kind string
	var size int
	if n, err := fmt.Sscanf(head, "%s %s %d\n", &id, &kind, &size); n != 3 || err != nil {
		return "", false, nil //nolint:nilerr // "missing" has no size
	}
	body := make([]byte, size+1)
	if _, err := io.ReadFull(from, body); err != nil {
		return "", false, err
	}
	return string(body[:size]), kind == "blob", nil
}
