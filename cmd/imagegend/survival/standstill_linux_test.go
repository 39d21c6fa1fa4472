package survival_test

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// A process that stands still for seconds, longer than its leases once, and then goes on, doubles
// nothing and loses nothing. What stood still in the middle of a step may be taken for abandoned: its
// client learns that the outcome is unknown, and no more.
func TestStandstill(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const longerThanALease = 33 * time.Second
	s := newSingleWorkload(t, seed(t))
	defer s.report()
	d := s.start()
	kill := s.use(d)
	stops := []time.Duration{time.Second, 3 * time.Second, longerThanALease}
	for range times() - 1 {
		stops = append(stops, time.Duration(1+rand.IntN(60))*time.Second)
	}
	for _, stop := range stops {
		<-time.After(time.Second)
		s.auditor.signals.Add(1)
		is.NoErr(d.Signal(syscall.SIGSTOP))
		<-time.After(stop)
		s.auditor.signals.Add(1)
		is.NoErr(d.Signal(syscall.SIGCONT))
	}
	<-time.After(time.Second)
	kill()
	s.aftermath()
	s.auditor.outcomes["standstills"] = len(stops)
	report(t, "standstill", s.auditor.outcomes)
}
