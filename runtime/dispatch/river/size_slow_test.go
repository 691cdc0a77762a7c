//go:build unix && slow

package river

import "time"

// How much the slow tests do: answers race 10,000 times, and processes are lost for ten minutes.
const (
	raceThreads, raceQuestions = 10, 1000

	soakTime               = 10 * time.Minute
	soakThreads, soakSlots = 40, 10
)
