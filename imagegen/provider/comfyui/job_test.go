package comfyui_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui/internal/comfyuitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// keeping keeps the last job of a request.
func keeping(r *imagegen.ProviderRequest) *[]byte {
	var job []byte
	r.SaveJob = func(_ context.Context, saved []byte) error { job = saved; return nil }
	return &job
}

// polled returns a channel that is closed at the first poll.
func polled(upstream *comfyuitest.Server) <-chan struct{} {
	asked, first := make(chan struct{}), true
	upstream.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if first && strings.HasPrefix(r.URL.Path, "/history/") { // one call polls at a time
			first = false
			close(asked)
		}
		return false
	}
	return asked
}

// begin calls the provider until it polls, then ends its context with the cause.
func begin(t *testing.T, d *comfyuitest.Server, p imagegen.Provider, r imagegen.ProviderRequest, cause error) {
	t.Helper()
	is := is.New(t)
	asked := polled(d)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := providertest.Collect(ctx, p, r)
		ended <- err
	}()
	<-asked
	cancel(cause)
	is.True(errors.Is(<-ended, cause))
}

func TestCancelled(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	begin(t, d, serve(t, d, nil), edit(comfyuitest.Endless, 3), errors.New("no longer wanted"))
	is.Equal(len(d.Workflows()), 3)
	is.Equal(d.Unfinished(), nil)          // two were taken out of the queue
	is.Equal(d.Interrupted(), d.IDs()[:1]) // and the one at work was interrupted
}

// Prompts that another user has queued before stay.
func TestCancellingSparesOthers(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	begin(t, d, p, providertest.Request(comfyuitest.Endless, 1), imagegen.ErrStopping)
	begin(t, d, p, providertest.Request(comfyuitest.Endless, 1), errors.New("no longer wanted"))
	is.Equal(d.Unfinished(), d.IDs()[:1])
	is.Equal(len(d.Interrupted()), 0)
}

// When the service stops, ComfyUI goes on, and the next start takes up what it made.
func TestContinuedAfterARestart(t *testing.T) {
	for _, cause := range []error{imagegen.ErrStopping, imagegen.ErrStale} {
		is := is.New(t)
		d := &comfyuitest.Server{}
		p := serve(t, d, nil)
		r := edit(comfyuitest.Endless, 2)
		job := keeping(&r)
		begin(t, d, p, r, cause)
		is.Equal(d.Unfinished(), d.IDs()[:2])
		d.Finish()
		r.Job = *job
		// prompt ids mean the same to another provider
		sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
		is.NoErr(err)
		is.Equal(len(sizes), 2)
		is.Equal(len(d.Workflows()), 2) // nothing was submitted twice
	}
}

// Prompts that the service had not submitted when it died are submitted then.
func TestRestSubmittedAfterACrash(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := edit("a fox", 1)
	job := keeping(&r)
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	r.N, r.Job = 3, *job
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(sizes), 3)
	is.Equal(len(d.Workflows()), 3)
}

func TestForgottenByTheUpstream(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request(comfyuitest.Endless, 1)
	job := keeping(&r)
	begin(t, d, p, r, imagegen.ErrStopping)
	d.Restart()
	r.Job = *job
	_, err := providertest.Collect(t.Context(), p, r)
	e := providertest.Error(t, err)
	is.Equal(e.Class, imagegen.ClassUnknown)
	is.True(strings.Contains(e.Message, "does not know the workflow any more"))
	is.Equal(len(d.Workflows()), 0) // not submitted again
}

func TestUnreadableJob(t *testing.T) {
	is := is.New(t)
	r := providertest.Request("a fox", 1)
	r.Job = []byte("{")
	_, err := providertest.Collect(t.Context(), serve(t, &comfyuitest.Server{}, nil), r)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown)
}

// A job that cannot be saved could not be found again: it is given up.
func TestUnsavedJobIsCancelled(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	r := edit(comfyuitest.Endless, 2)
	unsaved := errors.New("the disk is full")
	r.SaveJob = func(context.Context, []byte) error { return unsaved }
	_, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.True(errors.Is(err, unsaved))
	is.Equal(len(d.Workflows()), 0) // it is saved before
}

// Prompts of a job that another attempt owns are left to that one.
func TestOvertaken(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	r := edit(comfyuitest.Endless, 3)
	saves := 0
	r.SaveJob = func(context.Context, []byte) error {
		if saves++; saves == 2 {
			return imagegen.ErrStale
		}
		return nil
	}
	_, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.True(errors.Is(err, imagegen.ErrStale))
	is.Equal(len(d.Workflows()), 1)
	is.Equal(d.Unfinished(), d.IDs()[:1])
}

// A prompt whose submission was not answered is found by its id: nothing is lost, nothing is made twice.
func TestSubmissionWithoutAnAnswer(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{Lose: true}
	r := edit("a fox", 2)
	job := keeping(&r)
	sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(len(d.IDs()), 2)
	is.Equal(string(*job), `{"prompts":["`+d.IDs()[0]+`","`+d.IDs()[1]+`"]}`)
}

// A service that dies after a submission finds the prompt, whether it was answered or not.
func TestSavedBeforeItIsSubmitted(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := edit("a fox", 1)
	job := keeping(&r)
	d.Before = func(_ http.ResponseWriter, q *http.Request) bool {
		if q.URL.Path == "/prompt" {
			is.True(len(*job) > 0) // it is durable by now
		}
		return false
	}
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	r.Job = *job
	sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.NoErr(err)
	is.Equal(len(sizes), 1)
	is.Equal(len(d.IDs()), 1) // and was not submitted again
}

// A ComfyUI that has ids of its own is asked by those.
func TestIDsOfTheServer(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{OwnIDs: true}
	r := edit("a fox", 2)
	job := keeping(&r)
	sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(string(*job), `{"prompts":["`+d.IDs()[0]+`","`+d.IDs()[1]+`"]}`)

	r.SaveJob = func(_ context.Context, saved []byte) error { // the second time under the server's id
		if strings.Contains(string(saved), "00000003-") {
			return errors.New("the disk is full")
		}
		return nil
	}
	_, err = providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.True(err != nil)
	is.Equal(d.Unfinished(), nil) // nobody would find it
}

// A service that stops before a submission does not submit, and leaves nothing to look for.
func TestStoppedBeforeTheJobIsSaved(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := edit(comfyuitest.Endless, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	var job []byte
	r.SaveJob = func(ctx context.Context, saved []byte) error {
		cancel(imagegen.ErrStopping)
		job = saved
		return ctx.Err()
	}
	_, err := providertest.Collect(ctx, p, r)
	is.True(errors.Is(err, imagegen.ErrStopping))
	is.Equal(len(d.IDs()), 0) // there was no time to submit it, and the job does not name it
	is.Equal(job, nil)
}

// A submission that failed is not waited for again.
func TestFailedSubmissionIsMadeAgain(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request(comfyuitest.Memory, 2)
	job := keeping(&r)
	_, err := providertest.Collect(t.Context(), p, r)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnavailable)
	is.Equal(*job, nil)
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
}

// A caller that takes no more images leaves nothing at work, and the job names only what is there.
func TestNoMoreWanted(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := edit("a fox", 4)
	job := keeping(&r)
	for _, err := range p.Generate(t.Context(), r) {
		is.NoErr(err)
		break
	}
	is.Equal(d.Unfinished(), nil)
	is.Equal(string(*job), `{"prompts":["`+d.IDs()[0]+`"]}`)
}
