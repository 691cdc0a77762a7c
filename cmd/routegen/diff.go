package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/review"
)

// diffFlags are the flags of diff alone.
type diffFlags struct {
	against, format string
	exitCode        bool
}

// diffFormats are the forms of a diff.
var diffFormats = []string{"text", "markdown", "json", "unified"}

func (p *program) diffCommand() *cobra.Command {
	flags := diffFlags{format: "text"}
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Show what generating would change, or what the spec has changed since a revision",
		Long: "diff without --against prints the unified diff of the files on disk and those that generating would write. With --against\n" +
			"it tells what a reviewer needs of the change since then: what was added, removed, renamed and changed, who can now go\n" +
			"where, what the model now sees, and whose Go stops compiling. --format markdown is fit for a pull request; unified is\n" +
			"the diff of the spec and of all that is generated from it. Prompt templates are compared, too, where the revision is one of\n" +
			"git. Nothing is written.",
		Example: "  routegen diff --exit-code\n  routegen diff --against origin/main --format markdown\n" +
			"  git show v1.2.0:routes.yaml | routegen diff --against -",
		Args: cobra.NoArgs,
		// Takes the place of the check of the flags, because --format has other values here.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			p.opts.format = "text"
			if err := p.opts.check(); err != nil {
				return err
			}
			return oneOf("--format", flags.format, diffFormats...)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.against == "" {
				return p.diffDisk(flags)
			}
			return p.diffAgainst(cmd.Context(), flags)
		},
	}
	againstFlag(cmd, "against", &flags.against)
	cmd.Flags().StringVar(&flags.format, "format", flags.format, strings.Join(diffFormats, ", "))
	cmd.Flags().BoolVar(&flags.exitCode, "exit-code", false, "return code 3 where there is a difference")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(diffFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// fileDelta is one line of the JSON form of a diff of the disk.
type fileDelta struct {
	File    string `json:"file"`
	Status  status `json:"status"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
}

// diffDisk compares what is on disk with what generating would write.
func (p *program) diffDisk(flags diffFlags) error {
	src, res, err := p.load()
	if err != nil {
		return err
	}
	if res.Files == nil {
		return p.conclude(src, res.Findings, ending{code: judge(res.Findings, false), line: verdict(src.shown, res.Findings)})
	}
	out, refused, err := openOutput(src, res)
	if err != nil {
		return failf("%w", err)
	}
	defer out.close()
	if len(refused) > 0 {
		return p.conclude(src, refused, ending{code: judge(refused, false), line: verdict(src.shown, refused)})
	}
	var text bytes.Buffer
	files := 0
	for _, c := range out.survey.Changes {
		if c.Status == foreign {
			continue
		}
		files++
		name := src.display(c.Path)
		if flags.format == "json" {
			added, deleted := c.lines()
			if c.Status == removed {
				deleted = countLines(string(foldLines(c.Old)))
			}
			if err := p.printJSON(fileDelta{name, c.Status, added, deleted}); err != nil {
				return err
			}
			continue
		}
		text.WriteString(fileDiff(name, c.Status, c.Old, c.New))
	}
	if flags.format == "markdown" && files > 0 {
		text = *bytes.NewBufferString("```diff\n" + text.String() + "```\n")
	}
	if err := p.printText(text.String()); err != nil {
		return err
	}
	return p.differs(flags, files > 0, counted(files, "file")+" not as generated: run "+p.repair(), "the generated files are fresh")
}

// fileDiff is the unified diff of one file; /dev/null stands for a file that is not there. Line ends are folded.
func fileDiff(name string, how status, before, after []byte) string {
	text := unified(name, foldLines(before), foldLines(after))
	switch how {
	case created:
		return strings.Replace(text, "--- a/"+name, "--- /dev/null", 1)
	case removed:
		return strings.Replace(text, "+++ b/"+name, "+++ /dev/null", 1)
	case changed, foreign:
	}
	return text
}

// differs ends a diff.
func (p *program) differs(flags diffFlags, yes bool, line, fresh string) error {
	switch {
	case !yes:
		p.notef("%s", fresh)
		return nil
	case flags.exitCode:
		return &exitError{exitDrift, errors.New(line)}
	default:
		p.notef("%s", line)
		return nil
	}
}

// diffAgainst tells what the spec has changed since an earlier one.
func (p *program) diffAgainst(ctx context.Context, flags diffFlags) error {
	decide := generator.Decide
	if flags.format == "unified" {
		decide = p.generate
	}
	src, now, old, err := p.both(ctx, flags.against, decide)
	if err != nil {
		return err
	}
	if flags.format == "unified" {
		text := specDiff(src, old, now)
		if err := p.printText(text); err != nil {
			return err
		}
		return p.differs(flags, text != "", src.shown+" or what it generates differs from "+flags.against, "no difference to "+flags.against)
	}
	r := review.Compare(old.Plan, now.Plan)
	r.Base, r.Source = flags.against, src.shown
	r.Measure(composerOf(old), composerOf(now))
	if r.Implementers, err = implementersOf(src, now, old, r.Interfaces); err != nil {
		return failf("look for implementers: %w", err)
	}
	r.Sought = true
	var text string
	switch flags.format {
	case "markdown":
		text = r.Markdown()
	case "json":
		data, err := r.JSON()
		if err != nil {
			return failf("%w", err)
		}
		text = string(data)
	default:
		text = r.Text()
	}
	if err := p.printText(text); err != nil {
		return err
	}
	return p.differs(flags, !r.Empty(), src.shown+" differs from "+flags.against, "no difference to "+flags.against)
}

// decider makes a result of the text of a spec: with files, or without where plans are enough.
type decider func(name string, src []byte) *generator.Result

// both loads the spec and an earlier one. What is wrong with the spec is printed, and is an error.
func (p *program) both(ctx context.Context, ref string, decide decider) (src *source, now, old *generator.Result, err error) {
	if src, now, err = p.loadWith(decide); err != nil {
		return nil, nil, nil, err
	}
	if now.Plan == nil {
		return nil, nil, nil, p.conclude(src, now.Findings, ending{code: judge(now.Findings, false), line: verdict(src.shown, now.Findings)})
	}
	old, err = p.earlier(ctx, src, now.Plan, ref, decide)
	return src, now, old, err
}

// composerOf returns the schemas of a plan; nil where it has none, as a spec that was not there.
func composerOf(res *generator.Result) review.Schemas {
	if len(res.Plan.Routings) == 0 {
		return nil
	}
	return emit.NewComposer(res.Plan)
}

// specDiff is the unified diff of two specs and of all that is generated from them.
func specDiff(src *source, old, now *generator.Result) string {
	var b strings.Builder
	b.WriteString(unified(src.shown, foldLines(old.Source), foldLines(now.Source)))
	names := slices.Collect(maps.Keys(now.Files))
	for name := range old.Files {
		if _, both := now.Files[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		before, was := old.Files[name]
		after, is := now.Files[name]
		how := changed
		if !was {
			how = created
		} else if !is {
			how = removed
		}
		b.WriteString(fileDiff(src.display(src.at(name)), how, before, after))
	}
	return b.String()
}

// implementersOf looks in the user's module for the types that implement interfaces which gained or changed a method.
func implementersOf(src *source, now, old *generator.Result, deltas []review.InterfaceDelta) ([]review.Implementer, error) {
	s := &seeker{root: src.root, pkg: src.at(now.Plan.Out)}
	s.imports = importPath(src, s.pkg)
	for _, d := range deltas {
		if len(d.Added)+len(d.Changed) > 0 {
			s.wanted = append(s.wanted, wantedInterface{d.Name, interfaceMethods(old.Plan, d.Name)})
		}
	}
	if len(s.wanted) == 0 {
		return nil, nil
	}
	found, err := s.find()
	if err != nil {
		return nil, err
	}
	var out []review.Implementer
	for _, i := range found {
		out = append(out, review.Implementer{Interface: i.Interface, Type: i.Type, File: src.display(i.File), Line: i.Line})
	}
	return out, nil
}

// interfaceMethods lists the methods that an interface of the generated package has.
func interfaceMethods(pl *plan.Plan, name string) []string {
	var out []string
	switch name {
	case "Handlers":
		for _, n := range pl.Nodes {
			out = append(out, n.Method, n.AdaptMethod)
		}
	case "RequestVisitor", "InterruptVisitor":
		role := plan.RoleRequest
		if name == "InterruptVisitor" {
			role = plan.RoleInterrupt
		}
		for _, r := range pl.Records {
			if r.Role == role {
				out = append(out, "Visit"+r.Name)
			}
		}
	case "Actions", "Validators":
		out = portMethods(pl.Talk, name == "Actions")
	}
	return slices.DeleteFunc(out, func(m string) bool { return m == "" })
}

// portMethods lists what a program implements for flows: the methods of Actions, or those of Validators.
func portMethods(t *plan.Talk, actions bool) []string {
	var out []string
	switch {
	case t == nil:
	case actions:
		for _, a := range t.Actions {
			out = append(out, a.Method)
		}
	default:
		for _, v := range t.Validators {
			out = append(out, v.Method)
		}
	}
	return out
}

// notAgainst refuses a command that needs an earlier spec.
func notAgainst(flag, ref string) error {
	if ref == "" {
		return fmt.Errorf("%s is missing: name a git revision, a file, or - for standard input", flag)
	}
	return nil
}
