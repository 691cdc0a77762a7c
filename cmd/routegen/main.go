// Command routegen turns one routes.yaml into a Go package, JSON Schemas and docs, and keeps them
// together.
//
// `routegen help` lists the commands, `routegen help exit-codes` what the program returns. Findings
// go to standard output, progress to standard error. The program reads NO_COLOR, TERM, GOMEMLIMIT,
// GITHUB_ACTIONS and GITHUB_WORKSPACE from the environment, and nothing else.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/routegen/routegen/generator"
)

// memoryLimit is the soft memory limit of the garbage collector. A spec of fourteen thousand nodes
// gives a third of a gigabyte of text; with this limit the whole process stays below one gigabyte,
// and a small spec never reaches it.
const memoryLimit = 900 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
		generate: generator.Generate, disk: openDisk}
	code := p.execute(ctx, os.Args[1:])
	stop()
	os.Exit(int(code))
}
