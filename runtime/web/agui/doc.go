// Package agui is the door for front ends that speak AG-UI, see [web.Door]. A program mounts it
// with
//
//	web.Config{Conversation: talk, Doors: []web.Door{agui.Door()}}
//
// and a run is one POST to /v1/agui/{machine}, answered by a stream of events. Here a run brings a
// message to the conversation, the user's last one, and goes by the id of that: the same message
// again, under whatever run id, is taken once and gets the rows of its turn again. A resumption
// goes by its run id. The events are made of these rows, so nothing that a front end sees is not
// stored.
//
// A run of a thread that waits ends with the outcome interrupt and everything open; the next run
// resumes it. It may also just bring a text, which answers the one question that takes plain text,
// unless the conversation is strict. The list of messages must have the question then: without it
// the text is refused with pending_interrupt, since its user may not have seen what is asked. A run
// that brings nothing new, as of a page that was loaded again, shows how the thread is and what it
// asks.
//
// What the front end offers of its own tools, and its copy of the state, is not used: tools are the
// spec's, and the state is the thread. Its context and forwardedProps go to the handlers, see
// workflow.Metadata; in forwardedProps, by is in whose name the operator's token runs, and away
// that the user wrote without seeing what the thread asks. In the metadata of a resumption, digest
// binds it to what was shown, and routeTo sends the work elsewhere, with the payload, a text, as
// the note to that place.
package agui
