package frame

import (
	"html/template"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// slow is data that takes long to be written.
type slow chan struct{}

func (s slow) Write() string {
	<-s
	return ""
}

// One page of a payer is built at a time, and those of others beside it.
func TestPagesAreBuiltOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := &Frame{memory: newMemory(),
			templates: map[string]*template.Template{"x": template.Must(template.New("x").Parse("{{.Write}}"))}}
		begun := make(slow)
		var built atomic.Int32
		for _, u := range []imagegen.User{{ID: "alice"}, {ID: "carol", Sponsor: "alice"}, {ID: "alice"}, {ID: "bob"}} {
			p := &Page{Frame: f, Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil),
				Person: Person{User: u}}
			go func() {
				_, err := p.build("x", "x", begun)
				is.NoErr(err)
				built.Add(1)
			}()
		}
		waiting := func() (n int) { // how many are being built
			synctest.Wait()
			for {
				select {
				case begun <- struct{}{}:
					n++
				default:
					return n
				}
			}
		}
		is.Equal(waiting(), 2)
		is.Equal(waiting(), 1)
		is.Equal(waiting(), 1)
		is.Equal(waiting(), 0)
		is.Equal(built.Load(), int32(4))
	})
}
