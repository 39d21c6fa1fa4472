package comfyui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const (
	firstPoll = 20 * time.Millisecond // the first pause between polls; each further one is half as long again
	slowPoll  = time.Second           // the longest pause

	maxFailures = 10              // the poll that fails as the tenth in a row is the last
	abandonment = 2 * time.Second // how long a call that has ended may take to cancel its prompts
)

// await waits until a prompt has ended, or until ComfyUI no longer knows it, which is the ending errForgotten. An
// error means that ComfyUI does not answer or ctx has ended; the prompt may still be running.
func (p *Provider) await(ctx context.Context, id string) (ending, error) {
	failures, missing := 0, 0
	var asked time.Duration // how long ComfyUI, or the proxy before it, asks to wait
	for wait := firstPoll; ; wait = min(wait*3/2, slowPoll) {
		if err := upstream.Sleep(ctx, max(wait, asked)); err != nil {
			return ending{}, err
		}
		asked = 0
		end, state, err := p.pollPrompt(ctx, id)
		if err != nil {
			if failures++; failures == maxFailures || ctx.Err() != nil {
				return ending{}, upstream.Unsettled(err)
			}
			if e, ok := errors.AsType[*imagegen.ProviderError](err); ok {
				asked = min(e.RetryAfter, time.Minute)
			}
			continue
		}
		failures = 0
		switch state {
		case ended:
			return end, nil
		case queued:
			missing = 0
		default: // it may have ended between the two questions: once is not a proof
			if missing++; missing == 2 {
				return ending{err: errForgotten}, nil
			}
		}
	}
}

// errForgotten is of ClassUnknown: the prompt may have drawn its pictures before it was forgotten.
var errForgotten = &imagegen.ProviderError{Class: imagegen.ClassUnknown,
	Message: "ComfyUI does not know the workflow any more; was it restarted, or its queue cleared?"}

// state is where ComfyUI has a prompt.
type state int

const (
	unknown state = iota // in neither list
	queued               // waiting or running
	ended                // in the history
)

// pollPrompt asks once how a prompt stands: first the history, then the queue. A prompt that moves from the queue to
// the history between the two questions is seen in neither, so unknown means something only if it comes again.
func (p *Provider) pollPrompt(ctx context.Context, id string) (ending, state, error) {
	var history map[string]record
	if err := p.client.JSON(ctx, http.MethodGet, "/history/"+url.PathEscape(id), nil, &history); err != nil {
		return ending{}, unknown, err
	}
	if r, ok := history[id]; ok {
		return r.ending(), ended, nil
	}
	running, waiting, err := p.queue(ctx, []string{id})
	if err != nil || len(running)+len(waiting) == 0 {
		return ending{}, unknown, err
	}
	return ending{}, queued, nil
}

// queue returns which of ids are running and which are waiting. The answer holds the workflows of everybody
// who uses this ComfyUI, so it is streamed and not kept.
func (p *Provider) queue(ctx context.Context, ids []string) (running, waiting []string, err error) {
	response, err := p.client.Do(ctx, http.MethodGet, "/queue", nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	_, err = upstream.Each(ctx, response.Body, upstream.Strings, func(s upstream.String) (wanted bool, err error) {
		if s.Path != "queue_running[][]" && s.Path != "queue_pending[][]" {
			return true, nil
		}
		id, err := s.Message()
		switch {
		case !slices.Contains(ids, id):
		case s.Path == "queue_running[][]":
			running = append(running, id)
		default:
			waiting = append(waiting, id)
		}
		return true, err
	})
	return running, waiting, err
}

// abandon cancels prompts, also when ctx has ended, within a time of its own. It reports no failure: a prompt that
// cannot be cancelled runs to its end, and its pictures are not fetched.
func (p *Provider) abandon(ctx context.Context, ids []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonment)
	defer cancel()
	if len(ids) == 0 || p.client.JSON(ctx, http.MethodPost, "/queue", map[string]any{"delete": ids}, nil) != nil {
		return
	}
	running, _, _ := p.queue(ctx, ids)
	for _, id := range running {
		p.client.JSON(ctx, http.MethodPost, "/interrupt", map[string]any{"prompt_id": id}, nil)
	}
}
