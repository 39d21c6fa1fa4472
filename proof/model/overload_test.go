package model_test

import (
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// overload is what a process makes of an upstream that had too much to do: attempts at its model begin
// after the pause that it named, and fewer at once until the bound has grown back. By how many fewer the
// model does not tell: work of that model may wait meanwhile, and of no other.
type overload struct {
	pause time.Time // real; nothing begins before
	over  time.Time // real; as much begins as ever
}

// grownBack is how long an overload has an effect, at most: a bound grows back in 76 seconds from the lowest,
// and the last attempt that began meanwhile keeps the next one waiting for as long as one takes.
const grownBack = 80*time.Second + attemptTimeout

// overloaded notes that an attempt at a model ended in err.
func (p *process) overloaded(model string, err error, real time.Time) {
	failure, _ := errors.AsType[*imagegen.ProviderError](err)
	if failure == nil || failure.Class != imagegen.ClassRateLimited {
		return
	}
	until := real.Add(min(failure.RetryAfter, longestWait))
	p.overloads[model] = overload{pause: later(until, p.overloads[model].pause), over: real.Add(grownBack)}
}

// paused reports whether nothing of a model may begin.
func (p *process) paused(model string, real time.Time) bool {
	return real.Before(p.overloads[model].pause)
}

// mayWait reports whether work of a model may wait though a slot is free.
func (p *process) mayWait(model string) bool { return time.Now().Before(p.overloads[model].over) }
