package thread

import "sync/atomic"

// workerPool runs tasks in goroutines that are kept for later tasks. A new goroutine grows its
// stack for every commit, which costs more than most steps.
type workerPool struct {
	tasks   chan task
	stopped chan struct{}
	idle    atomic.Int32
}

// task is work for a goroutine of the pool.
type task interface{ perform() }

// taskFunc is a function as a task.
type taskFunc func()

func (f taskFunc) perform() { f() }

const maxIdle = 64 // members that wait for work; more than that go home

func newWorkerPool() *workerPool {
	return &workerPool{tasks: make(chan task), stopped: make(chan struct{})}
}

// runTask starts a task at once, in an idle worker or else in a new one.
func (c *workerPool) runTask(t task) {
	select {
	case c.tasks <- t:
	default:
		go c.runTasks(t)
	}
}

func (c *workerPool) runTasks(t task) {
	for {
		t.perform()
		if c.idle.Add(1) > maxIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case t = <-c.tasks:
			c.idle.Add(-1)
		case <-c.stopped:
			return
		}
	}
}

// stop ends the idle workers. The others end after their task.
func (c *workerPool) stop() { close(c.stopped) }
