//go:build unix && !slow

package river

// How much the ordinary tests do; see size_slow_test.go.
const (
	raceThreads, raceQuestions = 4, 50
)
