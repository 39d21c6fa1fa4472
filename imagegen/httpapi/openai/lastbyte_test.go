package openai_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
)

// buffer is a peer behind a buffer: what it takes leaves only with a flush, which can fail.
type buffer struct {
	sink
	flushed int64
	fails   bool
}

func (b *buffer) FlushError() error {
	if b.fails {
		return errors.New("the peer has gone")
	}
	b.flushed = b.bytes
	return nil
}

// noted is a stub that notes how much had left when the delivery was reported.
type noted struct {
	stub
	to   *buffer
	left []int64
}

func (n *noted) ReportDelivery(id imagegen.GenerationID, received bool) {
	n.left = append(n.left, n.to.flushed)
	n.stub.ReportDelivery(id, received)
}

// deliver has a stub answer, for a caller who may have gone before the answer began.
func deliver(t *testing.T, n *noted, gone bool, more string) {
	n.to.header = http.Header{}
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	h := openai.NewHandler(func(context.Context, string) (*noted, error) {
		if gone {
			hangUp()
		}
		return n, nil
	}, openai.Options{})
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, generations, strings.NewReader(`{"prompt":"a fox"`+more+
		`}`))
	r.Header = http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
	defer func() {
		if p := recover(); p != nil {
			is.New(t).Equal(p, http.ErrAbortHandler)
		}
	}()
	h.ServeHTTP(n.to, r)
}

// An answer counts as received once its last byte has left, and one that lacks it does not.
func TestReceivedWithItsLastByte(t *testing.T) {
	for kind, more := range map[string]string{"answer": "", "stream": `,"stream":true`,
		"addresses": `,"response_format":"url"`} {
		t.Run(kind, func(t *testing.T) {
			is := is.New(t)
			answered := func(most int64, fails, gone bool) *noted {
				n := &noted{stub: stub{images: 2, size: 10_000, deaf: true}, to: &buffer{sink: sink{most: most},
					fails: fails}}
				deliver(t, n, gone, more)
				return n
			}
			whole := answered(-1, false, false)
			is.Equal(whole.received, []bool{true})
			is.Equal(whole.left, []int64{whole.to.bytes}) // all of it had left by then
			is.Equal(answered(whole.to.bytes, false, false).received, []bool{true})
			is.Equal(answered(whole.to.bytes-1, false, false).received, []bool{false})
			is.Equal(answered(-1, true, false).received, []bool{false})
			is.Equal(answered(-1, false, true).received, []bool{false})
		})
	}
}
