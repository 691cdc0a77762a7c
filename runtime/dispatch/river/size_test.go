//go:build unix && !slow

package river

import "time"

// How much the ordinary tests do; see size_slow_test.go.
const (
	raceThreads, raceQuestions = 4, 50

	soakTime               = 15 * time.Second
	soakThreads, soakSlots = 10, 4
)
