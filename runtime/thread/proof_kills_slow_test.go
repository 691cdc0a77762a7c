//go:build slow

package thread_test

const (
	proofKills    = 200   // how often a process is killed
	proofStorms   = 3000  // how often everything goes wrong
	contestRounds = 1000  // how often two callers meet
	stuckThreads  = 4_000 // how many threads a program cannot move
)
