//go:build !linux

package spec_test

import "time"

// worked is how long f takes: not every system counts the time of one thread.
func worked(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}
