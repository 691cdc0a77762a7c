//go:build !unix

package thread_test

import "time"

var started = time.Now()

// burnt is not known here: it is the time.
func burnt() time.Duration { return time.Since(started) }
