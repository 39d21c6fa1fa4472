package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Readiness says whether an engine takes work.
type Readiness struct {
	Reasons  []imagegen.Notice // why it takes no work; empty: it does
	Warnings []imagegen.Notice // they do not stop work
}

// Ready reports whether the engine takes work.
func (r Readiness) Ready() bool { return len(r.Reasons) == 0 }

// Readiness returns whether the engine takes work, and the warnings for operators. It
// is cheap. It logs each change once.
func (e *Engine) Readiness(ctx context.Context) Readiness {
	var r Readiness
	for _, err := range []error{e.life.accepting(), e.storeReady(ctx), e.breaker.err()} {
		known := func(n imagegen.Notice) bool { return n.Code == reasonOf(err) }
		if err != nil && !slices.ContainsFunc(r.Reasons, known) {
			r.Reasons = append(r.Reasons, imagegen.Notice{Code: reasonOf(err), Detail: err.Error()})
		}
	}
	if k, ok := e.store.(imagegen.Timekeeper); ok {
		if leap, doubt := k.ClockInDoubt(); doubt {
			r.Warnings = append(r.Warnings, imagegen.Notice{Code: "clock", Detail: clockDetail(leap)})
		}
	}
	if w, ok := e.store.(imagegen.Warner); ok {
		r.Warnings = append(r.Warnings, w.Warnings(ctx)...)
	}
	if e.cfg.Warnings != nil {
		r.Warnings = append(r.Warnings, e.cfg.Warnings(ctx)...)
	}
	e.readiness.logChange(ctx, e, r)
	return r
}

// reasonOf is the code of a reason, for programs.
func reasonOf(err error) string {
	if n, ok := errors.AsType[*imagegen.NotReadyError](err); ok {
		return n.Code
	}
	switch {
	case errors.Is(err, imagegen.ErrStopping):
		return "draining"
	case errors.Is(err, errNotStarted):
		return "starting"
	}
	return "storage"
}

// clockDetail tells an operator what a clock in doubt did, and what to do.
func clockDetail(leap time.Duration) string {
	did := fmt.Sprintf("leapt ahead by %v", leap.Round(time.Second))
	if leap < 0 {
		did = fmt.Sprintf("is %v behind what was written or shown", -leap.Round(time.Second))
	}
	return "the clock " + did +
		"; what ends by its age goes by the time that has passed; set the clock right or, if it is, confirm it (imagegend clock confirm)"
}

// ConfirmClock makes the Store accept the wall clock. It does nothing if the Store is not
// an [imagegen.Timekeeper].
func (e *Engine) ConfirmClock(ctx context.Context) error {
	if k, ok := e.store.(imagegen.Timekeeper); ok {
		return k.ConfirmClock(ctx)
	}
	return nil
}

// loggedReadiness is the readiness that was logged last.
type loggedReadiness struct {
	mu    sync.Mutex
	codes string
}

// logChange logs r if its codes differ from those that were logged last: a detail that changes,
// such as the room on a disk, is not logged again.
func (n *loggedReadiness) logChange(ctx context.Context, e *Engine, r Readiness) {
	var codes, details []string
	for _, reason := range r.Reasons {
		codes, details = append(codes, "not ready: "+reason.Code), append(details, reason.Detail)
	}
	for _, warning := range r.Warnings {
		codes, details = append(codes, "warning: "+warning.Code), append(details, warning.Detail)
	}
	now := strings.Join(codes, ", ")
	n.mu.Lock()
	changed := now != n.codes
	n.codes = now
	n.mu.Unlock()
	switch {
	case changed && now == "":
		e.cfg.Log.InfoContext(ctx, "readiness: ready, and no warnings")
	case changed:
		e.cfg.Log.WarnContext(ctx, "readiness: "+now, "detail", strings.Join(details, "; "))
	}
}
