// Package terminal lets a person follow a thread of the examples on a terminal, and answer what it
// asks.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/routegen/routegen/runtime/thread"
)

// Person is a person at a terminal.
type Person struct {
	In  io.Reader
	Out *bufio.Writer // flushed before a line is read, and at the end
	// Show is called for every row of the log, with the current state of the interrupt that it is
	// about, nil if it is about none.
	Show func(row *thread.Entry, about *thread.Interrupt)
	// Say handles a line that the person has typed at an open interrupt. Its error is printed.
	Say func(ctx context.Context, open *thread.Interrupt, line string) error
}

// Follow reads the log of a thread from its first row, and asks the person the questions that are
// open, until the thread is over or In ends.
func (p *Person) Follow(ctx context.Context, e *thread.Engine, id string) (err error) {
	defer func() { err = errors.Join(err, p.Out.Flush()) }()
	lines, over := bufio.NewScanner(p.In), false
	for row, err := range e.Subscribe(ctx, thread.Filter{Thread: id}, 0) {
		var about *thread.Interrupt
		if err == nil && row.Interrupt != "" {
			about, err = e.Interrupt(ctx, row.Interrupt)
		}
		if err != nil {
			return err
		}
		p.Show(&row, about)
		for about != nil && about.State == thread.InterruptOpen {
			fmt.Fprintln(p.Out, "?", about.Text)
			if err := p.Out.Flush(); err != nil || !lines.Scan() {
				return errors.Join(err, lines.Err())
			}
			if err := p.Say(ctx, about, lines.Text()); err != nil {
				fmt.Fprintln(p.Out, err)
			}
			if about, err = e.Interrupt(ctx, about.ID); err != nil {
				return err
			}
		}
		if over = over || row.Type == thread.EntryOver; over && row.End {
			return nil
		}
	}
	return ctx.Err()
}
