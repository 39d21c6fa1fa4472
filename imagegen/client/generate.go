package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// Generate implements [imagegen.Service]. References are sent while they are read; none is held
// in memory as a whole. If a reference is an [imagegen.Namer], the base of its name is sent
// too, and messages mention it. Join has no effect, since the service decides:
// it joins a call without an IdempotencyKey to an equal call of the same API key that hung up
// without its answer, until 10 minutes after the end of that generation.
func (c *Client) Generate(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Result, error) {
	if err := sendable(q); err != nil {
		return imagegen.Result{}, err
	}
	var answer *http.Response
	var err error
	if len(q.References) > 0 || q.Mask != nil {
		answer, err = c.sendForm(ctx, q)
	} else {
		answer, err = c.sendJSON(ctx, wire.GeneratePath, q.IdempotencyKey, wire.NewRequest(q))
	}
	if err != nil {
		return imagegen.Result{}, err
	}
	var body wire.Generation
	if err := decode(ctx, answer, &body); err != nil {
		return imagegen.Result{}, err
	}
	result, err := body.Result()
	result.Replayed = replayed(answer.Header)
	return result, unreadable(err)
}

// sendable refuses what would not arrive as it is: encoding/json replaces bytes that are not UTF-8, and a
// header takes no control characters. Everything else the service checks.
func sendable(q imagegen.GenerateRequest) error {
	switch {
	case !utf8.ValidString(q.Model):
		return imagegen.Invalid("model is not valid UTF-8")
	case !utf8.ValidString(q.Prompt):
		return imagegen.Invalid("prompt is not valid UTF-8")
	case !utf8.ValidString(string(q.Quality)):
		return imagegen.Invalid("quality is not valid UTF-8")
	case !utf8.ValidString(string(q.Options.Format)):
		return imagegen.Invalid("output_format is not valid UTF-8")
	case !utf8.ValidString(string(q.Options.Background)):
		return imagegen.Invalid("background is not valid UTF-8")
	case q.IdempotencyKey != "" && !imagegen.ValidIdempotencyKey(q.IdempotencyKey):
		return imagegen.Invalid("an idempotency key is 1 to 255 visible ASCII characters")
	}
	return nil
}

// sendJSON sends a body without files. net/http may send it again, see Client.
func (c *Client) sendJSON(ctx context.Context, path, idempotencyKey string, sent any) (*http.Response, error) {
	body, err := json.Marshal(sent)
	if err != nil {
		return nil, unreachable(err)
	}
	return c.post(ctx, path, idempotencyKey, "application/json", bytes.NewReader(body))
}

func (c *Client) post(ctx context.Context, path, idempotencyKey, contentType string,
	body io.Reader) (*http.Response, error) {
	h := http.Header{"Content-Type": {contentType}}
	if idempotencyKey != "" {
		h.Set("Idempotency-Key", idempotencyKey)
	}
	return c.do(ctx, http.MethodPost, path, h, body)
}

// sendForm streams the references. A reference that cannot be read ends the call, with an error that
// blames it. The context of the sending lasts until the answer is closed: what has not been sent by
// then is stopped.
func (c *Client) sendForm(ctx context.Context, q imagegen.GenerateRequest) (*http.Response, error) {
	sending, stop := context.WithCancelCause(ctx)
	contentType, body := streamForm(sending, q, stop)
	answer, err := c.post(sending, wire.GeneratePath, q.IdempotencyKey, contentType, body)
	if err != nil {
		defer stop(nil)
		if unread, ok := errors.AsType[*imagegen.Error](context.Cause(sending)); ok {
			return nil, unread
		}
		return nil, err
	}
	answer.Body = stopOnClose{answer.Body, stop}
	return answer, nil
}

// stopOnClose keeps the context of a call until its answer was closed: net/http would end the body of the
// answer with the context.
type stopOnClose struct {
	io.ReadCloser
	stop context.CancelCauseFunc
}

func (s stopOnClose) Close() error {
	defer s.stop(nil)
	return s.ReadCloser.Close()
}
