// Package dialogue runs the flows of a generated package on durable threads: a flow asks for what
// it needs, does something, and says what came of it, and a user may interrupt, correct and cancel
// at any question. All knowledge about flows is in tables: a new flow is rows and a method of
// Actions, and needs no code in this package.
//
// # The stack
//
//	┌ balance ─────────┐   started at a question of transfer, or called by one of its steps
//	├ transfer ────────┤   waits for it, with its slots and its place
//	└ (the root frame) ┘   takes the message that begins a turn, and starts flows in turn
//
// Each active flow is one frame of the thread. Its position is stored: no step runs again because a
// later one asks. When a flow has ended, its parent continues: after a call with the outputs, else
// with its question, which is asked again. When no flow is left the thread is idle, and the next
// message begins a new turn.
//
// # A message
//
// A message is understood once, by an [Understander], which makes commands of it. Its commands may
// be wrong, so each is checked against the tables:
//
//	message ─► Understander ─► commands ─┬─ for the frame that asks: set, correct, clear,
//	                                     │  yes, no, cancel, clarify, chat, handoff
//	                                     └─ start_flow, and what belongs to it: a frame of
//	                                        its own, now or when its turn has come
//
// A command belongs to one frame and is used once: a yes answers one confirm, a value fills one
// slot. A command that cannot be used gets a visible reply, and so does a message without commands
// or whose understanding fails: the question stays open, the message has no later effect, and a
// failed understanding is not counted as an attempt. A message of more bytes than Config.MaxMessage
// gets a reply and is not read. Values that come before they are asked for are kept, and checked
// when their turn comes. Several flows in one message run one after the other, in the order in
// which they were named.
//
// The text of users reaches a model in a user's turn, never in the role system.
//
// # A value that changes
//
// A value that the user changes, corrects or wants to be asked for again takes the flow back to the
// step that collected it, at whatever question and by whatever command; a value that came from
// outside and that no step collected, to the start of the flow. It runs on from there with the
// slots as they were there:
//
//   - what the user gave on the way is not asked for again, except for what comes along another way
//     now;
//   - branches, conditions and set steps run again;
//   - an action, a called flow and a text of a model keep their result where they are given the
//     same, and run again where they are not; a say step says a text again only if the values in it
//     have changed;
//   - what the user confirmed on the way is asked again.
//
// What happened once stands: a value that an action marked once has worked with cannot be changed
// any longer, and neither can one from before a loop in whose earlier rounds such an action ran.
// Where only the inputs that other steps computed of it have changed, the action fails with
// CodeConflict instead of running again. on_change of a confirm leads elsewhere when a value is
// corrected there; checks that were made before are not repeated then, unless the flow goes to
// them.
//
// # What happens once
//
// A step that only decides runs together with those before and after it. An action, and a text of a
// model, have a step of the engine of their own: the place is stored before it begins, under a key
// of thread, frame, step and visit, so the third round of a loop has a key of its own. The failure
// of an action is stored, so a repeated step does not run it again; a once action whose result is
// unknown waits for a person. After a failure no slot has changed, and nothing that follows runs:
// on_error of the step says where to go, or of the flow, or else the flow ends failed with a reply
// and its parent goes on.
//
// An action that starts another thread, a workflow say, reaches the engine by [thread.EngineOf],
// and gives its key as the request: that thread is begun once.
//
// # Guarantees
//
//   - A user who says no at a confirm, and one who corrects something there, has not said yes: the
//     flow is cancelled unless it says where to go, and is asked again after a correction. A yes
//     beside which something else was said that the flow does not take is no yes either.
//   - The user is told of a handoff to a person.
//   - A confirm that is reached again asks again. It goes on by itself only where a step of the
//     same frame, no confirm, has set its slot.
//   - A loop ends: at its rounds, which go on counting where a flow leaves the loop and comes back,
//     and start at 0 after a question. Every circle ends: at the latest after 100 actions and texts
//     of a model without a question, and after 100,000 steps. Flows that are called and linked to
//     count as well.
//   - A text that a flow makes of its slots has a mebibyte at most.
//   - Every message gets a reply, and no message leaves a thread that refuses the next one, but for
//     one that was handed off, or waits for a person to settle a failure.
//
// All decisions are functions of the tables, the state of one frame and its input; the engine
// commits and executes them.
package dialogue
