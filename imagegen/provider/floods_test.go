//go:build !race

package provider_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// floods are upstreamFaults that send more than anybody should hold.
var floods = map[string]upstreamFault{
	"floods with text":   {func(v *faultyAnswer) { v.say(ok + "\r\n{\"a\":\""); v.repeat("AAAAAAAA") }, flood},
	"floods with a name": {func(v *faultyAnswer) { v.say(ok + "\r\n{\""); v.repeat("AAAAAAAA") }, flood},
	"floods with a chunk": {func(v *faultyAnswer) {
		v.say(ok + "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n\"")
		v.repeat("AAAAAAAA")
	}, flood},
	"floods with chunk headers": {func(v *faultyAnswer) {
		v.say(ok + "Transfer-Encoding: chunked\r\n\r\n1;")
		v.repeat("aaaaaaaa")
	}, flood},
	"floods with headers": {func(v *faultyAnswer) { v.say(ok); v.repeat("A: b\r\n") }, flood},
	"floods with what is packed": {func(v *faultyAnswer) { v.say(ok + "Content-Encoding: gzip\r\n\r\n"); v.pack() },
		flood},
	"floods with a picture": {(*faultyAnswer).draw, flood},
	"floods with a failure": {func(v *faultyAnswer) {
		v.say("HTTP/1.1 500 Oops\r\n\r\n")
		v.repeat("<p>sorry</p>")
	}, flood},
}

// pack sends gzip that grows a thousandfold.
func (v *faultyAnswer) pack() {
	defer v.enough()
	w := gzip.NewWriter(v.Conn)
	block := make([]byte, 1<<20)
	for sent := 0; ; sent += len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
		if sent >= much {
			v.enough()
		}
	}
}

// draw sends a picture that begins well and does not end: bare, or in the JSON that has it inside.
func (v *faultyAnswer) draw() {
	const begun = 60
	if i := bytes.Index(v.body, []byte(`"iVBOR`)); i >= 0 {
		v.say(ok + "\r\n")
		v.say(string(v.body[:i+1+begun]))
		v.repeat("AAAAAAAA")
		return
	}
	v.say("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
	v.say(string(v.body[:min(begun, len(v.body))]))
	v.repeat("\x00\x00\x00\x00")
}

// An upstream that sends without end, of whatever, is never held in memory, at no step of any
// protocol: less is alive at any time than one flood has sent. (The race detector has nothing
// to find here, and is slow.)
func TestUpstreamThatFloods(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // to look often
	a := openFaultMatrix(t)
	runtime.GC()
	before, peak := alive(), atomic.Uint64{}
	watching, stop := context.WithCancel(t.Context())
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for look := time.Tick(time.Millisecond); watching.Err() == nil; <-look {
			peak.Store(max(peak.Load(), alive()))
		}
	})
	cells := a.cells(floods)
	for _, problem := range visit(8, cells, a.try) {
		t.Error(problem)
	}
	stop()
	watcher.Wait()
	a.balanced()
	grown := int64(peak.Load()) - int64(before)
	t.Logf("proof floods: adapters=%d floods=%d cells=%d megabytes_each=%d heap_grown_megabytes=%d", len(a.steps),
		len(floods), len(cells), much>>20, grown>>20)
	if grown > much {
		t.Errorf("%d bytes more were alive at once", grown)
	}
}

// alive is how much the last collection found alive on the heap.
func alive() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
