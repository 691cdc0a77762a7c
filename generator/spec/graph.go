package spec

import (
	"slices"
	"strings"
)

// reach returns everything that can be reached from some places, and the places themselves.
func reach[T comparable](from []T, onward func(T) []T) map[T]bool {
	seen := make(map[T]bool, len(from))
	for _, at := range from {
		seen[at] = true
	}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		for _, to := range onward(queue[0]) {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// circles returns the circles of places from which there is no way to an end, each once. A place
// that leads nowhere is an end, too.
func circles[T comparable](all []T, isEnd func(T) bool, onward func(T) []T) [][]T {
	next, back := make(map[T][]T, len(all)), make(map[T][]T, len(all))
	var ends []T
	for _, at := range all {
		next[at] = onward(at)
		for _, to := range next[at] {
			back[to] = append(back[to], at)
		}
		if len(next[at]) == 0 || isEnd(at) {
			ends = append(ends, at)
		}
	}
	done := reach(ends, func(at T) []T { return back[at] })
	var out [][]T
	for _, at := range all {
		var way []T
		for ; !done[at]; at = next[at][0] {
			done[at] = true
			way = append(way, at)
		}
		// else it runs into a circle that was found already
		if first := slices.Index(way, at); first >= 0 {
			out = append(out, way[first:])
		}
	}
	return out
}

// maxShownWay is how many places of a circle are named.
const maxShownWay = 8

// circleText names the places of a circle, the first one again at its end.
func circleText[T any](circle []T, name func(T) string) string {
	var names []string
	for _, at := range circle[:min(len(circle), maxShownWay)] {
		names = append(names, name(at))
	}
	if len(circle) > maxShownWay {
		names = append(names, "...")
	}
	return strings.Join(append(names, name(circle[0])), " -> ")
}
