// Package workflow runs the nodes of a generated package on threads: the planner that follows routings, the unified interrupt handler,
// reroute events, fan-out and collection.
package workflow
