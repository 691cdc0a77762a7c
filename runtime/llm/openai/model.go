package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
)

const provider = "openai"

// defaultMaxTokens bounds what a reply may cost; the current models of the provider may all write
// as much.
const defaultMaxTokens = 16_000

// Config is how the provider is reached. Its zero value takes all from the environment, as the
// official client does: OPENAI_API_KEY, OPENAI_BASE_URL and the rest.
type Config struct {
	APIKey     string       // default: of the environment
	BaseURL    string       // default: of the environment, then the provider's
	HTTPClient *http.Client // default: the official client's
	// tries after the first, made and spaced by the official client; 0: its default, 2; -1: none
	Retries   int
	Timeout   time.Duration          // of one try; 0: none but that of the context
	MaxTokens int                    // for requests that name none; 0: 16,000; -1: none is sent
	Options   []option.RequestOption // for what has no field here; applied last
}

// Client is one model of OpenAI, or of a server that speaks its protocol. It is safe for concurrent
// use.
type Client struct {
	client    openai.Client
	name      string
	maxTokens int
}

var _ llm.Model = (*Client)(nil)

// New returns a model by its name at the provider: "gpt-5.1". Nothing is sent; a wrong address or
// key shows at the first request.
func New(model string, c Config) *Client {
	opts := []option.RequestOption{option.WithMiddleware(noteAttempt)}
	if c.APIKey != "" {
		opts = append(opts, option.WithAPIKey(c.APIKey))
	}
	if c.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(c.BaseURL))
	}
	if c.HTTPClient != nil {
		opts = append(opts, option.WithHTTPClient(c.HTTPClient))
	}
	if c.Retries != 0 {
		opts = append(opts, option.WithMaxRetries(max(c.Retries, 0)))
	}
	if c.Timeout > 0 {
		opts = append(opts, option.WithRequestTimeout(c.Timeout))
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	return &Client{client: openai.NewClient(slices.Concat(opts, c.Options)...), name: model,
		maxTokens: c.MaxTokens}
}

// Generate asks once, see [llm.Model]. Errors are those that package llm names.
func (m *Client) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	const op = "ask openai"
	if err := r.Check(); err != nil {
		return llm.Response{}, err
	}
	form, err := r.Form(runtime.OpenAI)
	if err != nil {
		return llm.Response{}, err
	}
	var opts []option.RequestOption
	if r.Key != "" {
		opts = append(opts, option.WithHeader("Idempotency-Key", llm.HeaderKey(r.Key)))
	}
	var way trip
	answer, err := m.client.Chat.Completions.New(context.WithValue(ctx, tripKey{}, &way),
		m.params(&r, form), opts...)
	if err != nil {
		return llm.Response{}, llm.Fail(op, callError(ctx, &way, err))
	}
	resp, err := readResponse(&r, answer)
	if err != nil {
		return llm.Response{}, llm.Fail(op, err)
	}
	return resp, nil
}

// trip records what the middleware sees of a call. A request that the client refuses before sending
// it will be refused again.
type trip struct {
	sent   bool
	answer *http.Response // of the last try; nil when there was none
}

type tripKey struct{} // finds the trip in the context of a call

func noteAttempt(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	answer, err := next(r)
	if way, ok := r.Context().Value(tripKey{}).(*trip); ok {
		way.sent, way.answer = true, answer
	}
	return answer, err
}

// callError converts an error of the client. A request that does not fit the model's window is
// answered with an error status, but is a stop. Errors in a form that the client cannot read keep
// their status.
func callError(ctx context.Context, way *trip, err error) error {
	e, ok := errors.AsType[*openai.Error](err)
	switch {
	case ok && e.Code == "context_length_exceeded":
		return &llm.StopError{Provider: provider, Reason: llm.StopContext, Word: e.Code}
	case ok && e.Response != nil:
		return llm.Answered(provider, e.Response, cmp.Or(e.Code, e.Type), e.Message)
	case ctx.Err() == nil && way.answer != nil && way.answer.StatusCode >= http.StatusBadRequest:
		return llm.Answered(provider, way.answer, "", err.Error())
	}
	return llm.Unanswered(ctx, provider, way.sent, err)
}
