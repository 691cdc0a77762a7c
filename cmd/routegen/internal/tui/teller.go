package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// teller puts rows into words. It remembers the questions, and which step of a plan each frame has just done. The page says the same: one table
// of rows and lines is the test of both.
type teller struct {
	names names
	asked map[string]*web.Interrupt // as they were asked
	steps map[string]string         // by frame
	step  string                    // that is being done
}

func newTeller() teller {
	return teller{asked: map[string]*web.Interrupt{}, steps: map[string]string{}}
}

// tell returns one line for a row, without its time.
func (t *teller) tell(r *web.Row) string {
	if r.Type == runtime.EntryAsked && r.Question != nil {
		t.asked[r.Interrupt] = r.Question
	}
	text := line(t.words(r))
	switch {
	case r.Type == runtime.EntryReturned:
		delete(t.steps, r.Frame)
	case r.Type == runtime.EntryMessage && strings.HasPrefix(r.Name, "task_"):
		var e task
		_ = json.Unmarshal(r.Value, &e) // one that says something else has no step
		if t.step = e.Task; r.Name != "task_started" {
			t.step = ""
		}
		if r.Name == "task_completed" {
			t.steps[r.Frame] = e.Task
		}
	}
	return text
}

// words is the flat list of what is said of each type.
func (t *teller) words(r *web.Row) string {
	q, who := t.question(r.Interrupt), person(r.By)
	switch r.Type {
	case runtime.EntryStarted:
		return t.started(r)
	case runtime.EntryMessage:
		return t.message(r)
	case runtime.EntryAsked, runtime.EntryOpened:
		return t.asks(r)
	case runtime.EntryQueued:
		return q + " waits for " + t.other(r)
	case runtime.EntrySuperseded:
		if r.Other == "" {
			return q + " is not asked any more"
		}
		return q + " makes way for " + t.other(r)
	case runtime.EntryAnswered:
		if r.RouteTo != "" {
			return colon(who+" sent the work to "+t.names.node(r.RouteTo)+", instead of an answer to "+q, short(spoken(r.Value)))
		}
		return colon(who+" answered "+q, short(t.names.answered(t.asked[r.Interrupt], r.Value)))
	case runtime.EntryVoted:
		return colon(who+" answered "+q+", as one of several", short(t.names.answered(t.asked[r.Interrupt], r.Value)))
	case runtime.EntryReasked:
		return colon("the answer to "+q+" was unclear, so it is asked again", r.Text)
	case runtime.EntryExpired:
		return "nobody answered " + q + " in time"
	case runtime.EntryCancelled:
		return q + " was taken back"
	case runtime.EntryClaimed:
		if r.Name == "" {
			return who + " laid down " + q
		}
		return person(r.Name) + " took on " + q
	case runtime.EntryExtended:
		return who + " gave " + q + " more time, until " + moment(r.Until)
	case runtime.EntryReminded:
		return "the time to answer " + q + " is nearly over"
	case runtime.EntryEscalated:
		return "nobody answered " + q + " in time: " + cmp.Or(r.Name, "others") + " may answer now"
	case runtime.EntryEscape:
		return colon(who+map[bool]string{false: " asked for a pause", true: " asked for a pause at once"}[r.Name == runtime.EscapeNow], r.Text)
	case runtime.EntryPaused:
		return "the work is paused"
	case runtime.EntryResumed:
		if r.Text != "" {
			return who + " let the work go on, with a change: " + r.Text
		}
		return who + " let the work go on unchanged"
	case runtime.EntryModified:
		return "the change has reached the work"
	case runtime.EntryReroute:
		return t.reroute(r)
	case runtime.EntryReturned:
		return t.ended(r)
	case runtime.EntryOver:
		return over(r)
	default:
		return t.inside(r)
	}
}

// inside is what is said of what the history has and the outbox has not.
func (t *teller) inside(r *web.Row) string {
	who := person(r.By)
	switch r.Type {
	case runtime.EntryEntered:
		if r.Parent == "" {
			return t.names.program(r.Machine) + " begins"
		}
		return t.names.node(cmp.Or(r.Name, r.Machine)) + " begins"
	case runtime.EntryStepped:
		if strings.HasPrefix(r.PC, "!") {
			return "goes on between two nodes"
		}
		return "goes on at " + t.names.node(r.PC)
	case runtime.EntryCalling:
		return "waits for its parts"
	case runtime.EntryShows:
		return "its questions show how far it is"
	case runtime.EntryMetadata:
		return "what came with the message is kept"
	case runtime.EntryEffect:
		return plain(r.Name) + " " + cmp.Or(effects[r.State], low(r.State))
	case runtime.EntryFailed:
		if r.Until != 0 {
			return colon("a step failed, and is tried again at "+clock(r.Until), why(r.Failure))
		}
		return colon("a step failed", why(r.Failure))
	case runtime.EntryAgain:
		if r.RouteTo != "" {
			return who + " ordered it to go on at " + t.names.node(r.RouteTo)
		}
		if r.Name != "" {
			return who + " ordered the step to run again"
		}
		return "the step runs again"
	case runtime.EntryHeld:
		return colon(who+" answered "+plain(r.Name)+" before it was asked", spoken(r.Value))
	case runtime.EntryTaken:
		return "the early answer to " + plain(r.Name) + " is used"
	default:
		return "something happened that this program has no words for: " + low(string(r.Type))
	}
}

var effects = map[string]string{
	runtime.EffectIntended: "has begun", runtime.EffectDone: "is done", runtime.EffectInDoubt: "may have happened", runtime.EffectFailed: "did not happen",
}

// person is who did something.
func person(by string) string {
	switch by {
	case "":
		return "somebody"
	case "policy":
		return "a rule"
	case "deadline":
		return "the deadline"
	case "operator":
		return "the operator"
	default:
		return by
	}
}

// short bounds what a line says of a result or an answer: the history has all of it.
func short(text string) string {
	const most = 240
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func colon(text, more string) string {
	if more == "" {
		return text
	}
	return text + ": " + more
}

// why is a failure in words. Its code stands for a text only where there is none.
func why(f *runtime.Failure) string {
	if f == nil {
		return ""
	}
	return cmp.Or(bare(f.Text), low(string(f.Code)))
}

// coded is what was called, and the code of a refusal, in the text of a failure: they are for programs.
var coded = regexp.MustCompile(`(^|: )(?:[^:]{1,40}: )?(?:invalid|not_found|conflict|already_answered|superseded|expired|not_waiting|forbidden|ambiguous|no_route|many_routes|loop|` +
	`in_doubt|incompatible|unavailable|outcome_unknown|internal): `)

func bare(text string) string { return coded.ReplaceAllString(text, "$1") }

// askedText is the text of a question.
func askedText(q *web.Interrupt) string {
	if q.Kind == runtime.KindSystemError {
		return bare(q.Text)
	}
	return q.Text
}

// moment is a time that may be on another day.
func moment(millis int64) string { return time.UnixMilli(millis).Local().Format("Jan 2 15:04") } //nolint:gosmopolitan // a person reads it

// question is what a question is called in a line about it.
func (t *teller) question(id string) string {
	const most = 60
	q := t.asked[id]
	if q == nil {
		return "a question"
	}
	text := []rune(strings.Join(strings.Fields(cmp.Or(askedText(q), plain(q.Name))), " "))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	return "“" + string(text) + "”"
}

func (t *teller) other(r *web.Row) string {
	if r.Other == "" {
		return "something more urgent"
	}
	return t.question(r.Other)
}

func (*teller) started(r *web.Row) string {
	var from struct {
		Thread string `json:"thread"`
		Seq    int64  `json:"seq"`
	}
	if json.Unmarshal(r.Value, &from) == nil && from.Thread != "" {
		return fmt.Sprintf("%s made this thread from %s, as that was at entry %d", person(cmp.Or(r.Name, r.By)), from.Thread, from.Seq)
	}
	return person(r.By) + " started the thread"
}

// asks says who asks what.
func (t *teller) asks(r *web.Row) string {
	q := r.Question
	if q == nil {
		q = &web.Interrupt{Kind: r.Kind, Text: plain(r.Name)}
	}
	if q.Kind == runtime.KindUserEscape {
		return colon("somebody has to say how the work goes on", q.Text)
	}
	who, text := "it", cmp.Or(askedText(q), plain(q.Name))
	switch {
	case q.Node != "" && t.names.nodes[q.Node] == "" && t.step != "":
		who = "the step “" + t.step + "”"
	case q.Node != "":
		who = t.names.node(q.Node)
	}
	what := "asks"
	switch {
	case r.Type == runtime.EntryOpened:
		what = "asks now"
	case r.State == string(runtime.InterruptSuperseded):
		what = "does not ask, because something more urgent is open"
	case r.State == string(runtime.InterruptQueued):
		what = "will ask, when something more urgent is answered"
	}
	switch q.Kind {
	case runtime.KindAgentQuestion, "":
	case runtime.KindSystemError:
		what += " for help"
	default:
		what += " (" + low(q.Kind) + ")"
	}
	return who + " " + what + ": " + text
}

func (t *teller) reroute(r *web.Row) string {
	switch {
	case r.State == runtime.RerouteUsed:
		return "the order to interrupt the work was followed"
	case r.State == runtime.RerouteExpired:
		return "the order to interrupt the work came too late"
	case r.Value == nil:
		return "the next order to interrupt the work has its turn"
	}
	text := person(r.By) + " ordered to interrupt the work"
	if r.RouteTo != "" {
		text += " and go on at " + t.names.node(r.RouteTo)
	}
	if r.State == runtime.RerouteQueued {
		text += ", after an earlier order"
	}
	return text
}

// ended says what a part of the work came to. The row has what it was from [guide.complete].
func (t *teller) ended(r *web.Row) string {
	what := "a part of the work"
	switch step := t.steps[r.Frame]; {
	case step != "":
		return "the step “" + step + "” ended"
	case r.Machine != "" && r.Parent == "":
		what = "the work"
	case r.Machine != "":
		what = t.names.node(cmp.Or(r.Name, r.Machine))
	}
	switch {
	case r.State == "skipped":
		return colon(person(r.By)+" went on without "+what, short(gist(r.Value)))
	case r.Failure != nil:
		return colon(what+" failed", why(r.Failure))
	default:
		return colon(what+" ended", short(gist(r.Value)))
	}
}

func over(r *web.Row) string {
	switch text := short(gist(r.Value)); runtime.Status(r.State) {
	case runtime.StatusDone:
		return colon("the thread is done", text)
	case runtime.StatusFailed:
		return colon("the thread failed", why(r.Failure))
	case runtime.StatusCancelled:
		return colon(person(r.By)+" ended the thread", why(r.Failure))
	case runtime.StatusHandedOff:
		return colon("the thread was handed off", text)
	default:
		return "the thread is " + low(r.State)
	}
}
