package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"iter"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// upstream is a provider that does nothing of its own accord: each call waits for orders.
type upstream struct{ diary *diary }

var _ imagegen.Provider = upstream{}

// upcall is one call of the provider.
type upcall struct {
	imagegen.ProviderRequest
	words   chan word
	stagger time.Duration // how long it takes to return when it is over, so that no two end at one moment
	over    atomic.Bool   // it listens no more
}

// GoString is what is seen of a call in messages.
func (c *upcall) GoString() string { return "call for " + c.Prompt }

// word is an order to a call: to yield bytes, to save a job, or to end.
type word struct {
	image []byte
	job   *[]byte
	err   error
	panic bool
}

func (upstream) Name() string { return "obedient" }

func (upstream) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxSeed: maxSeed, MaxReferences: 1, Mask: true}
}

func (u upstream) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		c := &upcall{ProviderRequest: r, words: make(chan word), stagger: u.diary.stagger()}
		u.diary.write(happening{kind: begun, call: c})
		err := errors.New("it panicked")
		defer func() { u.diary.write(happening{kind: left, call: c, err: err}) }()
		if err = c.obey(ctx, yield); err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// obey returns when the call is ordered to end, nobody wants more images, or the attempt is over.
func (c *upcall) obey(ctx context.Context, yield func(imagegen.ProviderImage, error) bool) error {
	for {
		select {
		case <-ctx.Done():
			c.over.Store(true)
			time.Sleep(c.stagger)
			return context.Cause(ctx)
		case w := <-c.words:
			switch {
			case w.image != nil:
				if !yield(imagegen.ProviderImage{Body: bytes.NewReader(w.image)}, nil) {
					return nil
				}
			case w.job != nil:
				if err := c.SaveJob(ctx, *w.job); err != nil {
					return err
				}
			case w.panic:
				panic("as ordered")
			default:
				return w.err
			}
		}
	}
}

// edge is the size of all pictures.
const edge = 16

// plain is a PNG of one grey, so that JPEGs of it are not all the same.
func plain(grey int) []byte {
	i := image.NewGray(image.Rect(0, 0, edge, edge))
	for p := range i.Pix {
		i.Pix[p] = byte(grey)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, i); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// picture is a PNG that no other number has.
func picture(number int) []byte {
	const endChunk = 12
	plain := plain(number)
	title := fmt.Appendf([]byte("tEXt"), "Title\x00%d", number)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(title)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, title...), crc32.ChecksumIEEE(title))
	end := len(plain) - endChunk
	return bytes.Join([][]byte{plain[:end], chunk, plain[end:]}, nil)
}
