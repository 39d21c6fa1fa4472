package frame

import (
	"html/template"
	"net/http/httptest"
	"strings"
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

// One page of a person is built at a time, and those of others beside it, also of members.
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
		is.Equal(waiting(), 3)
		is.Equal(waiting(), 1)
		is.Equal(waiting(), 0)
		is.Equal(built.Load(), int32(4))
	})
}

// A member holds no more than half of what its payer may, and a page that fails holds nothing.
func TestSharesOfMembers(t *testing.T) {
	is := is.New(t)
	f := &Frame{memory: newMemory(), templates: map[string]*template.Template{"x": template.Must(
		template.New("x").Parse("{{.}}{{.Missing}}"))}}
	page := func(u imagegen.User) *Page {
		return &Page{Frame: f, Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil),
			Person: Person{User: u}}
	}
	member, sponsor := page(imagegen.User{ID: "carol", Sponsor: "alice"}), page(imagegen.User{ID: "alice"})
	is.NoErr(member.hold(heldOfMember))
	is.Equal(member.hold(1), imagegen.ErrOverloaded)
	is.NoErr(sponsor.hold(heldOfPayer - heldOfMember))
	is.Equal(sponsor.hold(1), imagegen.ErrOverloaded)
	is.NoErr(page(imagegen.User{ID: "bob"}).hold(heldOfPayer))
	member.release(heldOfMember)
	is.NoErr(sponsor.hold(heldOfMember))
	sponsor.release(sponsor.held.bytes)
	_, err := member.build("x", "x", strings.Repeat("x", 1<<20))
	is.True(err != nil)
	is.Equal(member.held.bytes, int64(0))
	is.NoErr(member.hold(heldOfMember))
}
