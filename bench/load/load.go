// Package load puts load on an HTTP server, in a closed loop (each connection asks again as soon as
// it has its answer) or an open one (requests start at a fixed rate, whatever the answers do).
package load

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Load is what is asked, and by how many.
type Load struct {
	Address     string // host:port
	Connections int
	Request     func(i int) []byte // the bytes of the i-th request; safe for concurrent use
	Status      int                // of every answer; another is an error

	// Then is a request that follows each answer, of whose body it is made; both together count as one. nil: none.
	Then func(body []byte) []byte
}

// Result is what a load has measured.
type Result struct {
	Elapsed   time.Duration
	latencies []time.Duration // ascending
}

// Requests is how many were answered.
func (r Result) Requests() int { return len(r.latencies) }

// Rate is how many were answered in a second.
func (r Result) Rate() float64 { return float64(len(r.latencies)) / r.Elapsed.Seconds() }

// Quantile is the latency that the share q of all requests stayed within.
func (r Result) Quantile(q float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	return r.latencies[min(int(q*float64(len(r.latencies))), len(r.latencies)-1)]
}

// Closed asks for the given time.
func (l Load) Closed(ctx context.Context, during time.Duration) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	var next atomic.Int64
	return l.run(func(ask func(i int, intended time.Time) error) error {
		for ctx.Err() == nil {
			if err := ask(int(next.Add(1)), time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Open starts rate requests a second for the given time. A latency counts from the moment at which
// the request was to start: a server that stalls cannot hide it by keeping the load away.
func (l Load) Open(ctx context.Context, rate float64, during time.Duration) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, during+10*time.Second)
	defer cancel()
	began, total := time.Now(), int64(rate*during.Seconds())
	var next atomic.Int64
	return l.run(func(ask func(i int, intended time.Time) error) error {
		for i := next.Add(1); i <= total && ctx.Err() == nil; i = next.Add(1) {
			intended := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
			time.Sleep(time.Until(intended))
			if err := ask(int(i), intended); err != nil {
				return err
			}
		}
		return nil
	})
}

// run has each connection work, and gathers.
func (l Load) run(work func(ask func(i int, intended time.Time) error) error) (Result, error) {
	latencies, errs := make([][]time.Duration, l.Connections), make([]error, l.Connections)
	began := time.Now()
	var wg sync.WaitGroup
	for n := range l.Connections {
		wg.Go(func() {
			c, err := dial(l.Address)
			if err != nil {
				errs[n] = err
				return
			}
			defer c.Close()
			errs[n] = work(func(i int, intended time.Time) error {
				err := l.ask(c, i)
				latencies[n] = append(latencies[n], time.Since(intended))
				return err
			})
		})
	}
	wg.Wait()
	all := slices.Concat(latencies...)
	slices.Sort(all)
	return Result{time.Since(began), all}, cmp.Or(errs...)
}

// ask sends the i-th request, and what follows it.
func (l Load) ask(c *conn, i int) error {
	if l.Then == nil {
		return l.do(c, l.Request(i), nil)
	}
	var body bytes.Buffer
	if err := l.do(c, l.Request(i), &body); err != nil {
		return err
	}
	return l.do(c, l.Then(body.Bytes()), nil)
}

func (l Load) do(c *conn, request []byte, body *bytes.Buffer) error {
	status, err := c.do(request, body)
	if err == nil && status != l.Status {
		err = fmt.Errorf("load: an answer has status %d instead of %d", status, l.Status)
	}
	return err
}
