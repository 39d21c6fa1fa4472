package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// A page is read and sent in pieces: a hundred prompts can be 18 MiB, and a client that reads slowly
// would keep them in memory for half an hour.
const (
	firstPiece = 2        // generations that are read first, when it is not known how long they are
	pieceBytes = 64 << 10 // of JSON that each further piece should have, by the average so far
	wholeBytes = 64 << 10 // a page up to this is sent at once, with its length
)

// generations lists what the user has, newest first. The page is put together from several reads;
// generations that begin meanwhile are not on it. An error before the first piece is sent is
// answered as usual; later it cuts the page off.
func (a *api) generations(x *exchange) error {
	if err := a.site.FindBase(&x.Exchange); err != nil {
		return err
	}
	q, err := parseQuery(x.Request.URL.RawQuery)
	if err != nil {
		return err
	}
	left := cmp.Or(q.Limit, imagegen.DefaultPageSize)
	l := &list{exchange: x, out: serving.NewEncoder()}
	l.out.WriteString(`{"object":"list","data":[`)
	for {
		q.Limit = min(left, l.piece())
		p, err := x.session.Generations(x.Ctx, q)
		if err != nil {
			return l.broken(err)
		}
		for _, g := range p.Generations {
			if err := l.addGeneration(g); err != nil {
				return l.broken(err)
			}
		}
		q.After = p.Next
		if l.begun { // a peer that reads slowly can make the page last half an hour
			if err := x.Still(); err != nil {
				return l.broken(err)
			}
		}
		if left -= len(p.Generations); left == 0 || p.Next == "" {
			return l.endPage(p.Next)
		}
	}
}

// list is a page on its way out.
type list struct {
	*exchange
	out   *serving.Encoder // what is yet to be sent
	n     int              // generations on the page so far
	size  int              // their bytes of JSON
	begun bool             // part of the answer was sent
}

// piece is how many generations to read next, by the average length of those that were read.
func (l *list) piece() int {
	if l.n == 0 {
		return firstPiece
	}
	return max(1, pieceBytes*l.n/l.size)
}

// addGeneration writes one generation, and sends what has gathered when it is large enough.
func (l *list) addGeneration(g imagegen.Generation) error {
	before := l.out.Len()
	if l.n++; l.n > 1 {
		l.out.WriteByte(',')
	}
	if err := l.out.JSON.Encode(wire.NewGeneration(g, l.Base)); err != nil {
		return err
	}
	l.out.Truncate(l.out.Len() - 1) // the line break that Encode adds
	l.size += l.out.Len() - before
	if l.out.Len() <= wholeBytes {
		return nil
	}
	return l.flush()
}

// flush sends what there is, and the header before the first of it. An error means that the peer
// takes no more.
func (l *list) flush() error {
	if !l.begun {
		l.begun = true
		l.header()
		l.WriteHeader(http.StatusOK)
	}
	_, err := l.exchange.Write(l.out.Bytes())
	l.out.Reset()
	return err
}

func (l *list) header() {
	l.Header().Set("Content-Type", "application/json")
	l.Header().Set("Cache-Control", "no-store")
}

// endPage writes the end of the list with the cursor of the next page; "" means that this is the last one. A
// page of which nothing was sent yet goes out with a Content-Length.
func (l *list) endPage(next imagegen.GenerationID) error {
	end := `],"has_more":false,"next_cursor":null}` + "\n"
	if next != "" {
		cursor, _ := json.Marshal(next)
		end = `],"has_more":true,"next_cursor":` + string(cursor) + "}\n"
	}
	l.out.WriteString(end)
	if l.begun {
		return l.broken(l.flush())
	}
	l.header()
	return l.Send(http.StatusOK, l.out.Bytes())
}

// broken ends a page that fails: one that has begun is cut off, so that nobody takes it for a whole
// one. Without an error it does nothing.
func (l *list) broken(err error) error {
	if err == nil || !l.begun {
		return err
	}
	l.Err = err
	panic(http.ErrAbortHandler)
}
