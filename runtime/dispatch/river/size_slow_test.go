//go:build unix && slow

package river

// How much the slow tests do: answers race 10,000 times.
const (
	raceThreads, raceQuestions = 10, 1000
)
