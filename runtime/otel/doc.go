// Package otel tells OpenTelemetry what threads do: it is a [thread.Observer] over the trace and
// metric APIs. It needs no SDK; the program that has one passes its providers, or sets the global
// ones.
//
// # Traces
//
// A thread is one trace, over every pause, every process and every restart: its id comes from the
// thread's, see [TraceID], so nothing is stored. The spans of a trace stand beside each other, none
// has a parent, so the sampler of the program decides on them as on any root; one that decides by
// trace id, as TraceIDRatioBased does, keeps or drops a thread as a whole. A step's span is the
// parent of what its handler starts under the step's context.
//
//	start thread          the thread was started
//	fork thread           it was forked from another one, and is linked to that trace
//	step <machine> <name> one run of a step; <name> is left out where the frame has none
//	wait <kind> <node>    an interrupt, from the question to its end: who answered, and
//	                      an event for every vote
//
// A pause is no error: the span of a step that waits has the event "waiting" and the status Unset.
// A failed step has the status Error. Its description is the code, as is error.type: the text of an
// error may hold what people said. Payloads, answers, inputs and results never appear; the digest
// of what was shown does.
//
// A step has routegen.thread, .frame, .parent, .machine, .name, .step, .visit, .turn and .attempt,
// and:
//
//	routegen.outcome   done, waiting, failed, or cut: stopped from outside, without a result
//	error.type         code of a failed step
//
// An interrupt has routegen.thread, .frame, .step and .visit, and:
//
//	routegen.interrupt, .kind, .node, .digest, .asks
//	routegen.state     how it ended: answered, expired, superseded, cancelled
//	routegen.who       "policy" or "deadline" for an answer that these gave; with Config.Names
//	                   the name of the person who answered or voted
//
// A fork has:
//
//	routegen.source    the thread that it was forked from
//	routegen.seq       the last entry that both share
//
// # Metrics
//
//	name                      kind             unit         attributes
//	routegen.interrupts       counter          {interrupt}  routegen.event, .kind, .node
//	routegen.interrupts.open  up-down counter  {interrupt}  routegen.kind, .node
//	routegen.interrupt.wait   histogram        s            routegen.kind, .node
//	routegen.steps            counter          {step}       routegen.machine, .name, .outcome,
//	                                                        error.type
//	routegen.step.duration    histogram        s            as routegen.steps
//	routegen.failures.told    counter          {message}    routegen.message, error.type
//
// routegen.event is asked, answered, expired, superseded, cancelled or reasked (a plain answer was
// unclear). The wait is the time from the question to its answer, by the engine's clock; a question
// that got no answer has none. An attribute that is empty is left out.
//
// routegen.interrupts.open counts open and queued interrupts as a change in this process: what was
// asked here and answered in another process is up here and down there. Only the sum over all
// processes since the first start is how many are open; for the number itself ask
// [thread.Engine.Inbox].
//
// routegen.failures.told counts messages of the outbox that tell of a failure which no step failed
// with: that a message could not be understood, say, since the model does not answer.
// routegen.message is the name of the message, error.type the code.
//
// A step is counted when its handler has returned. Its commit comes after that: where the store
// refuses it for good, or the process dies first, the step runs again and is counted again, as what
// it is: a run. Interrupts are counted after their commit, once.
//
// What a fork has copied happened to its source and is not counted again. The interrupts that are
// open in the fork are new, and are.
package otel
