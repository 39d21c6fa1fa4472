package providertest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// reference is a reference image that counts how often it is opened and closed.
type reference struct {
	bytes          []byte
	opened, closed atomic.Int64
	err            error
}

func (r *reference) Open(context.Context) (io.ReadCloser, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.opened.Add(1)
	return &open{bytes.NewReader(r.bytes), r}, nil
}

// open is an open reference, which tells the reference when it is closed.
type open struct {
	io.Reader
	of *reference
}

func (o *open) Close() error {
	o.of.closed.Add(1)
	return nil
}

// attach adds n references to a request, and returns them, since they count their use.
func attach(is *is.I, r *imagegen.ProviderRequest, n int) []*reference {
	const width, height = 96, 64
	var b bytes.Buffer
	is.NoErr(png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	references := make([]*reference, n)
	for i := range references {
		references[i] = &reference{bytes: b.Bytes()}
		r.References = append(r.References, imagegen.ProviderReference{Reference: references[i],
			MediaType: "image/png", Size: int64(b.Len()), Width: width, Height: height})
	}
	return references
}

// references: as many references as are declared can be sent; they are read and closed.
func references(t *testing.T, c Config) {
	is := is.New(t)
	p := c.New(t)
	most := p.Capabilities().MaxReferences
	if most == 0 {
		return
	}
	r := c.request(p)
	attached := attach(is, &r, most)
	sizes, ended := collect(t, t.Context(), p, r)
	is.NoErr(ended)
	is.Equal(len(sizes), 1)
	is.True(attached[0].opened.Load() > 0) // the reference was read
	for _, a := range attached {
		is.Equal(a.opened.Load(), a.closed.Load()) // what was opened was closed
	}
}

// brokenReference: a reference that cannot be opened ends the call, before any image.
func brokenReference(t *testing.T, c Config) {
	is := is.New(t)
	p := c.New(t)
	if p.Capabilities().MaxReferences == 0 {
		return
	}
	r := c.request(p)
	attach(is, &r, 1)[0].err = errors.New("the disk is on fire")
	sizes, ended := collect(t, t.Context(), p, r)
	is.True(ended != nil)   // the call says so
	is.Equal(len(sizes), 0) // and does not go on without the reference
}
