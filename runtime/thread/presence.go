package thread

import (
	"context"
	"crypto/rand"
	"strings"
)

// announceProcess gives the engine the name that its leases have. Where the store knows which
// processes have it open, others see from that name whether this one is still alive.
func (e *Engine) announceProcess(ctx context.Context) error {
	id, leave := rand.Text(), func() {}
	if p, ok := e.store.(Presence); ok {
		var err error
		if id, leave, err = p.Announce(ctx); err != nil {
			return err
		}
	}
	e.process, e.leave = e.cfg.Owner+"@"+id, leave
	return nil
}

// hasEnded reports whether the engine that a lease names has certainly ended, so that its threads
// need not wait for the end of the lease.
func (e *Engine) hasEnded(owner string) bool {
	p, ok := e.store.(Presence)
	return ok && p.Ended(owner[strings.LastIndexByte(owner, '@')+1:])
}
