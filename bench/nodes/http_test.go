//go:build unix

package nodes

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/imagegend/imagegend/bench/load"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// serve serves a store, with a user for each connection, a provider that draws and images in a directory: the whole of
// a generation but for the upstream.
func serve(b *testing.B, db store, images *storage.DB) side {
	b.Helper()
	service, err := engine.New(engine.Config{
		Store: db, Ledger: db, Images: images, Spool: images,
		Models: []engine.Model{{ID: "bench", Provider: &provider.Fake{Image: smallest(b)},
			Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}}},
	})
	check(b, err)
	check(b, service.Start())
	b.Cleanup(func() { check(b, service.Stop(context.Background())) })
	s := httptest.NewServer(httpapi.NewHandler(service, httpapi.Options{}))
	b.Cleanup(s.Close)

	requests := make([][]byte, many)
	atOnce(b, many, func(n int) (err error) {
		requests[n], err = request(b.Context(), service, db, n)
		return err
	})
	l := load.Load{Address: s.Listener.Addr().String(), Connections: many, Status: http.StatusOK,
		Request: func(i int) []byte { return requests[i%many] }}
	return func(ctx context.Context, during time.Duration) (float64, error) {
		r, err := l.Closed(ctx, during)
		return r.Rate(), err
	}
}

// request is that of a user of their own.
func request(ctx context.Context, service *engine.Engine, db store, n int) ([]byte, error) {
	u, err := service.Accounts().CreateUser(ctx, fmt.Sprintf("caller-%d", n), "")
	if err != nil {
		return nil, err
	}
	if _, err = db.Grant(ctx, imagegen.Grant{User: u.ID, Credits: 1_000_000}); err != nil {
		return nil, err
	}
	key, _, err := service.Accounts().MintKey(ctx, u.ID, "bench", time.Time{})
	const body = `{"model":"bench","prompt":"a fox in the snow, seen from afar","size":"1024x1024"}`
	return fmt.Appendf(nil, "POST /api/v1/images/generations HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key.Reveal(), len(body), body), err
}

// smallest is the smallest PNG of its size: no time is to be spent at the image.
func smallest(b *testing.B) []byte {
	b.Helper()
	var out bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	check(b, e.Encode(&out, image.NewPaletted(image.Rect(0, 0, 1024, 1024), color.Palette{color.Black})))
	return out.Bytes()
}
