package survival_test

import (
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

const (
	nodeFaults   = 20
	betweenThem  = 500 * time.Millisecond
	longestFault = 3 * time.Second
)

// Three daemons share a database and an object store. One is killed, stands still, loses its connections or waits for
// them in vain, or the object store is gone, or the database falls over and starts again, or its standby is promoted,
// again and again: nothing that any of them has acknowledged is lost, nothing is charged twice, and no credits of what
// came to nothing are kept.
func TestNodesUnderFaults(t *testing.T) {
	is := is.New(t)
	w := besiegeNodes(t, postgrestest.Synchronous)
	defer w.report()
	faults := map[string]func(){
		"killed": func() {
			n := w.any()
			n.current().Kill()
			n.start(t)
		},
		"paused": func() {
			d := w.any().current()
			is.NoErr(d.Signal(syscall.SIGSTOP))
			<-time.After(w.span(longestFault))
			is.NoErr(d.Signal(syscall.SIGCONT))
		},
		"cut": func() { w.any().cut() },
		"stalled": func() {
			resume := w.any().stall()
			<-time.After(w.span(longestFault))
			resume()
		},
		"objects away": func() {
			w.objects.Stop()
			<-time.After(w.span(longestFault))
			w.objects.Resume(t)
		},
		"database restarted": func() {
			w.database.Kill()
			w.database.Restart(t)
		},
		"standby promoted": func() {
			w.database.Kill()
			w.database.Promote(t)
			w.database.Rejoin(t)
		},
	}
	kinds := slices.Sorted(maps.Keys(faults))
	for i := range nodeFaults * times() {
		kind := kinds[i%len(kinds)]
		faults[kind]()
		w.auditor.count(kind)
		<-time.After(betweenThem)
	}
	w.reckon("nodes")
}
