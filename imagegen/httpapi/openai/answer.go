package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	vector "github.com/segmentio/asm/base64"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// summary is what an answer says about all its images. ID, Credits and Balance are beyond OpenAI's
// shape; its clients ignore them.
type summary struct {
	appearance
	ID      imagegen.GenerationID `json:"id"`
	Credits imagegen.Credits      `json:"credits"`
	Balance *wire.Balance         `json:"balance,omitempty"`
	Usage   *tokens               `json:"usage,omitempty"`
}

// tokens are those that the upstream reported, in OpenAI's shape.
type tokens struct {
	Total  int64       `json:"total_tokens"`
	Input  int64       `json:"input_tokens"`
	Output int64       `json:"output_tokens"`
	Detail tokensInput `json:"input_tokens_details"`
}

type tokensInput struct {
	Text  int64 `json:"text_tokens"`
	Image int64 `json:"image_tokens"`
}

// tokensOf returns nil if the upstream reported none.
func tokensOf(u imagegen.UpstreamUsage) *tokens {
	t := &tokens{Input: u.TextInput + u.ImageInput, Output: u.TextOutput + u.ImageOutput,
		Detail: tokensInput{u.TextInput, u.ImageInput}}
	if t.Total = t.Input + t.Output; t.Total == 0 {
		return nil
	}
	return t
}

// appearance is what an answer says about one image or, with the values of the first, about all.
type appearance struct {
	Size       string              `json:"size,omitempty"`
	Quality    imagegen.Quality    `json:"quality"`
	Format     string              `json:"output_format,omitempty"`
	Background imagegen.Background `json:"background"`
}

// looks returns the appearance of an image: its size and format as it came, the quality as it was asked of the
// provider, and the background as it was asked for.
func looks(g imagegen.Generation, i imagegen.Image) appearance {
	return appearance{imagegen.Size{Width: i.Width, Height: i.Height}.String(), g.Effort,
		strings.TrimPrefix(i.MediaType, "image/"), cmp.Or(g.Options.Background, imagegen.BackgroundAuto)}
}

// summarize takes the appearance of the first image for that of all: OpenAI's shape has room for one.
func summarize(result imagegen.Result) summary {
	s := summary{ID: result.ID, Credits: result.Credits, Usage: tokensOf(result.Usage)}
	if len(result.Images) > 0 {
		s.appearance = looks(result.Generation, result.Images[0])
	}
	if result.Balance != nil {
		s.Balance = wire.NewBalance(*result.Balance)
	}
	return s
}

// piece is a piece of an answer: a text and, if there is a file, the bytes of the image as base64
// behind it.
type piece struct {
	text string
	file *imagegen.ImageFile
}

// size is the length of the piece as it is sent, so that the answer can have a Content-Length.
func (p piece) size() int64 {
	n := int64(len(p.text))
	if p.file != nil {
		n += base64Length(p.file.Size)
	}
	return n
}

// base64Length is the length of n bytes in base64, with padding.
func base64Length(n int64) int64 { return (n + 2) / 3 * 4 }

// whole answers with all images in one object. The JSON around the images is put together by hand, so
// that none of them has to be a value in memory.
func (x *exchange) whole(r *request, result imagegen.Result) error {
	files, err := x.openImages(r, result.Images)
	if err != nil {
		return err
	}
	defer closeAll(files)
	tail, err := json.Marshal(summarize(result))
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`{"created":%d,"data":[`, result.CreatedAt.Unix())
	var pieces []piece
	for i, image := range result.Images {
		if i > 0 {
			text += ","
		}
		if r.urls {
			text += `{"url":` + strconv.Quote(x.address(image)) + `}`
			continue
		}
		pieces = append(pieces, piece{text + `{"b64_json":"`, files[i]})
		text = `"}`
	}
	return x.answer(result, append(pieces, piece{text: text + "]," + string(tail[1:]) + "\n"}))
}

// answer sends pieces as the whole answer, with its length. An error while they are sent cuts it off.
func (x *exchange) answer(result imagegen.Result, pieces []piece) error {
	var total int64
	for _, p := range pieces {
		total += p.size()
	}
	x.head(result)
	x.Header().Set("Content-Type", "application/json")
	x.Header().Set("Cache-Control", "no-store")
	x.Header().Set("Content-Length", strconv.FormatInt(total, 10))
	x.WriteHeader(http.StatusOK)
	if err := x.write(pieces); err != nil {
		x.cut(err)
	}
	return nil
}

// openImages opens the images, all of them before any is sent, so that one that is missing can still be
// answered with an error; none if their addresses are sent. The caller closes them.
func (x *exchange) openImages(r *request, images []imagegen.Image) (files []*imagegen.ImageFile, err error) {
	if r.urls {
		return nil, nil
	}
	for _, i := range images {
		f, err := x.session.OpenImage(context.WithoutCancel(x.Ctx), i.ID)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func closeAll(files []*imagegen.ImageFile) {
	for _, f := range files {
		_ = f.Close() // it was only read
	}
}

// write sends pieces. After an error the answer can no longer report it: the caller cuts it off.
func (x *exchange) write(pieces []piece) error {
	for _, p := range pieces {
		_, err := io.WriteString(x, p.text)
		if err == nil && p.file != nil {
			err = writeBase64(x, p.file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cut aborts an answer that cannot be sent whole, so that nobody takes it for a whole one. It does not
// return: the panic ends in Site.Finish, and then in net/http.
func (x *exchange) cut(err error) {
	x.Err = err
	panic(http.ErrAbortHandler)
}

// block is how many bytes of an image are encoded at once. It is a multiple of three, so that only the
// last block has padding.
const block = 48 << 10

// blocks are arrays for the bytes of a block and, behind them, their base64.
var blocks = sync.Pool{New: func() any { return new([block + block/3*4]byte) }}

// writeBase64 copies an image. An error means that it could not be read, that it is shorter than its
// record says, or that the peer has gone.
func writeBase64(w io.Writer, f *imagegen.ImageFile) error {
	b := blocks.Get().(*[block + block/3*4]byte)
	defer blocks.Put(b)
	raw, encoded := b[:block], b[block:]
	for left := f.Size; left > 0; {
		n := min(left, block)
		if _, err := io.ReadFull(f, raw[:n]); err != nil {
			return fmt.Errorf("openai: image %s: %w", f.ID, err)
		}
		vector.StdEncoding.Encode(encoded, raw[:n])
		if _, err := w.Write(encoded[:base64Length(n)]); err != nil {
			return err
		}
		left -= n
	}
	return nil
}
