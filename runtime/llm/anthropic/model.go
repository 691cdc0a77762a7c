package anthropic

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
)

const provider = "anthropic"

// defaultMaxTokens is what the official client still takes in one piece: from about 21,000 on it
// insists on a stream, unless a timeout is set.
const defaultMaxTokens = 16_000

// Config is how the provider is reached. Its zero value takes all from the environment, as the
// official client does: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, a profile.
type Config struct {
	APIKey     string       // default: of the environment
	BaseURL    string       // default: of the environment, then the provider's
	HTTPClient *http.Client // default: the official client's
	// tries after the first, made and spaced by the official client; 0: its default, 2; -1: none
	Retries   int
	Timeout   time.Duration          // of one try; 0: the official client's, 10 minutes
	MaxTokens int                    // for requests that name none; 0: 16,000
	Options   []option.RequestOption // for what has no field here; applied last
}

// Client is one model of Anthropic. It is safe for concurrent use.
type Client struct {
	client    anthropic.Client
	name      string
	maxTokens int
}

var _ llm.Model = (*Client)(nil)

// New returns a model by its name at the provider: "claude-sonnet-4-5". Nothing is sent; a wrong
// address or key shows at the first request.
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
	if c.MaxTokens <= 0 {
		c.MaxTokens = defaultMaxTokens
	}
	return &Client{client: anthropic.NewClient(slices.Concat(opts, c.Options)...), name: model,
		maxTokens: c.MaxTokens}
}

// Generate asks once, see [llm.Model]. Errors are those that package llm names.
func (m *Client) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	const op = "ask anthropic"
	if err := r.Check(); err != nil {
		return llm.Response{}, err
	}
	form, err := r.Form(runtime.Anthropic)
	if err != nil {
		return llm.Response{}, err
	}
	var opts []option.RequestOption
	if r.Key != "" {
		opts = append(opts, option.WithHeader("Idempotency-Key", llm.HeaderKey(r.Key)))
	}
	var sent bool
	answer, err := m.client.Messages.New(context.WithValue(ctx, sentKey{}, &sent),
		m.params(&r, form), opts...)
	if err != nil {
		return llm.Response{}, llm.Fail(op, callError(ctx, sent, err))
	}
	resp, err := readResponse(&r, answer)
	if err != nil {
		return llm.Response{}, llm.Fail(op, err)
	}
	return resp, nil
}

// sentKey finds, in the context of a call, where to note that the request was sent. A request that
// the client refuses before sending it will be refused again.
type sentKey struct{}

func noteAttempt(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	if sent, ok := r.Context().Value(sentKey{}).(*bool); ok {
		*sent = true
	}
	return next(r)
}

func callError(ctx context.Context, sent bool, err error) error {
	e, ok := errors.AsType[*anthropic.Error](err)
	if !ok || e.Response == nil {
		return llm.Unanswered(ctx, provider, sent, err)
	}
	return llm.Answered(provider, e.Response, string(e.Type()), e.RawJSON())
}
