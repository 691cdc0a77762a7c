package terminal

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

// Chat delivers the lines of in to a conversation, each as the message m with that text, until
// there are no more, and prints the replies.
func Chat(ctx context.Context, c *chat.Conversation, m chat.Message, in io.Reader,
	say func(format string, args ...any)) error {
	shown := "" // since the last line
	for lines := bufio.NewScanner(in); ; {
		question := &thread.Interrupt{}
		if t, err := c.Engine.Wait(ctx, m.Thread); err == nil && len(t.Open) > 0 {
			// a clarification goes out as a message too
			if question = t.Open[0]; !strings.Contains(shown, question.Text) {
				show(question, say)
			}
		}
		if !lines.Scan() {
			return lines.Err()
		}
		m.Text, shown = strings.TrimSpace(lines.Text()), ""
		m.Answers = decided(question, m.Text)
		for row, err := range c.DeliverStream(ctx, m) {
			said := map[string]string{}
			switch {
			case err != nil:
				say("refused: %s", err)
			case row.Type == thread.EntryStepped && row.PC != "":
				say("  at %s", row.PC)
			case row.Type == thread.EntryMessage && json.Unmarshal(row.Value, &said) == nil &&
				said["text"] != "":
				say("%s", strings.TrimPrefix(said["node"]+": "+said["text"], ": "))
				shown += said["text"]
			}
		}
	}
}

// show prints a question with its payload, and the answers that it takes in addition to plain text.
func show(q *thread.Interrupt, say func(format string, args ...any)) {
	var about map[string]json.RawMessage
	_ = json.Unmarshal(q.Payload, &about) // only an approval has arguments
	say("%s", strings.TrimSpace(q.Text+" "+string(about["args"])))
	for _, choice := range q.Choices {
		say("  %s", choice.Label)
	}
	if about["args"] != nil {
		say("  edit {ARGUMENTS}")
	}
}

// decided reads a line as an answer other than plain text: a choice, or the arguments to run a tool
// with.
func decided(q *thread.Interrupt, line string) []thread.Answer {
	for _, choice := range q.Choices {
		if choice.Label == line {
			return []thread.Answer{{Interrupt: q.ID, Value: choice.Value}}
		}
	}
	if args, ok := strings.CutPrefix(line, "edit "); ok && json.Valid([]byte(args)) {
		return []thread.Answer{{Interrupt: q.ID,
			Value: json.RawMessage(`{"decision":"edit","args":` + args + `}`)}}
	}
	return nil
}
