package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failsafe-go/failsafe-go"

	"github.com/imagegend/imagegend/imagegen"
)

// generation is one call of Generate. It belongs to one goroutine.
type generation struct {
	router  *Provider
	rest    imagegen.ProviderRequest // what is still to be made
	jobs    *jobs
	yield   func(imagegen.ProviderImage, error) bool
	stopped bool // no more images are wanted
}

// run lets the member with the saved job continue, if there is one, and then asks members for what is still to be
// made. It returns nil if the call ends without an error, or if no more images are wanted.
func (g *generation) run(ctx context.Context) error {
	if g.rest.Job != nil {
		if err := g.resume(ctx); err != nil && !g.mayTryNext(ctx, err) {
			return err
		}
		if g.stopped || g.rest.N <= 0 {
			return nil
		}
	}
	var err error
	pass := func() error { err = g.tryAll(ctx); return err }
	_ = failsafe.With(g.router.retry).WithContext(ctx).Run(pass) // err is that of the last round
	if all, ok := errors.AsType[*allFailed](err); ok {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return all.providerError()
	}
	return err
}

// tryAll asks one candidate after the other until the images are made or an error ends
// the call. It returns an *allFailed if every candidate has failed.
func (g *generation) tryAll(ctx context.Context) error {
	if err := g.router.Check(g.rest); err != nil {
		return err
	}
	all := &allFailed{}
	line := g.router.candidates(g.rest)
	for len(line) > 0 {
		v, err := g.router.acquire(ctx, line)
		if ill, ok := errors.AsType[*allFailed](err); ok {
			all.reasons = append(all.reasons, ill.reasons...)
			break
		}
		if err != nil {
			return err
		}
		if err = g.callMember(ctx, v, g.rest); err == nil || !g.mayTryNext(ctx, err) {
			return err
		}
		all.reasons = append(all.reasons, err)
		line = slices.DeleteFunc(line, func(m *member) bool { return m == v.member })
	}
	return all
}

// mayTryNext reports whether another member may be asked after an error, and logs the error if so.
func (g *generation) mayTryNext(ctx context.Context, err error) bool {
	if !classOf(err).AllowsFailover() || g.jobs.isOpen() {
		return false
	}
	g.router.log.WarnContext(ctx, "an upstream has passed a request on", "key", g.rest.Key, "images", g.rest.N, "error",
		err)
	return true
}

// resume lets the member that saved the job continue it, for the images that it was asked for. It waits for a place,
// but does not look at the member's health.
func (g *generation) resume(ctx context.Context) error {
	t, err := parseJob(g.rest.Job)
	if err != nil {
		return err
	}
	m, err := g.router.owner(t)
	if err != nil {
		return err
	}
	v, err := m.reacquire(ctx)
	if err != nil {
		return err
	}
	g.rest.Key, g.rest.Job = t.Key, nil
	part := g.rest
	part.N, part.Job = min(t.N, g.rest.N), t.Job
	return g.callMember(ctx, v, part)
}

// callMember has a member make part of the images, and takes from the rest what need not be made by
// another. The error names the member.
func (g *generation) callMember(ctx context.Context, v permit, part imagegen.ProviderRequest) error {
	made, err := g.collect(ctx, v, part)
	if err == nil {
		made = part.N // fewer are an ordinary outcome
	}
	if made > 0 { // for an upstream the rest is another request, which needs another key
		g.rest = g.rest.Batch(made, g.rest.N-made)
		g.rest.Key = fmt.Sprintf("%s-%d", g.rest.Key, made)
	}
	if err != nil {
		return fmt.Errorf("router: member %q: %w", v.name, err)
	}
	return nil
}

// errUnfinished is the error of a call that ended with a panic or runtime.Goexit.
var errUnfinished = errors.New("the provider did not return")

// collect yields a member's images, no more than it was asked for, and returns how many. It
// ends the permit whatever happens, also after a panic.
func (g *generation) collect(ctx context.Context, v permit, part imagegen.ProviderRequest) (made int, err error) {
	err = errUnfinished
	defer func() { v.conclude(ctx, err, g.jobs.isUnsaved()) }()
	began, asked := time.Now(), part.MemberDone
	defer func() {
		if asked == nil {
			return
		}
		ended := err
		if ctx.Err() != nil && err != nil {
			ended = context.Cause(ctx)
		}
		asked(v.name, time.Since(began), made, ended)
	}()
	part.MemberDone = nil // if the member is a router too, its members are not reported
	part.SaveJob = g.jobs.saverFor(v.member, part)
	for image, broken := range v.provider.Generate(ctx, part) {
		if broken != nil {
			return made, broken
		}
		if made++; !g.yield(image, nil) {
			g.stopped = true
			return made, nil
		}
		if made == part.N {
			return made, nil
		}
	}
	return made, nil
}
