package formdata_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// got is a part as it was read.
type got struct {
	Name, FileName string
	File, Chosen   bool
	Content        string
}

// read reads a form with the boundary b whole.
func read(body io.Reader) (all []got, err error) {
	err = formdata.Read(body, "b", func(p formdata.Part) error {
		chosen, err := p.Chosen()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(p)
		all = append(all, got{p.Name, p.FileName, p.File, chosen, string(content)})
		return err
	})
	return all, err
}

// part writes one part with a disposition.
func part(disposition, content string) string {
	return "--b\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content + "\r\n"
}

const end = "--b--\r\n"

// form has all that a form can have.
var form = "a preamble\r\n" + part(`form-data; name="prompt"`, "a fox\r\n--not the boundary") +
	part(`form-data; name="image"; filename="../dir/fox.png"`, "PNG") +
	part(`form-data; name="image"; filename=""`, "") + part(`form-data; name="image"; filename=""`, "x") +
	part(`form-data; name="image"; filename*=UTF-8''%e7%8b%90`, "") +
	part(`form-data; name="image"; FileName*=euc-kr''%bf%a9%bf%ec`, "PNG") + end

var parts = []got{{Name: "prompt", Chosen: true, Content: "a fox\r\n--not the boundary"},
	{Name: "image", FileName: "fox.png", File: true, Chosen: true, Content: "PNG"},
	{Name: "image", File: true},
	{Name: "image", File: true, Chosen: true, Content: "x"},
	{Name: "image", FileName: "狐", File: true, Chosen: true},
	{Name: "image", File: true, Chosen: true, Content: "PNG"}}

// However a body comes, its parts are the same.
func TestRead(t *testing.T) {
	for name, body := range map[string]io.Reader{
		"at once":             strings.NewReader(form),
		"byte by byte":        iotest.OneByteReader(strings.NewReader(form)),
		"end with data":       iotest.DataErrReader(strings.NewReader(form)),
		"without a line end":  strings.NewReader(strings.TrimSuffix(form, "\r\n")),
		"with an epilogue":    strings.NewReader(form + strings.Repeat("x", 64<<10-2)),
		"with blanks between": strings.NewReader(strings.ReplaceAll(form, "--b\r\n", "--b  \r\n")),
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			all, err := read(body)
			is.NoErr(err)
			is.Equal(cmp.Diff(parts, all), "")
		})
	}
	is := is.New(t)
	all, err := read(strings.NewReader(end))
	is.NoErr(err)
	is.Equal(len(all), 0)
}

// A body that ends early is never taken for a whole one, wherever it ends.
func TestReadTheBeginningOnly(t *testing.T) {
	is := is.New(t)
	whole := len(form) - len("\r\n")
	for n := range whole {
		_, err := read(strings.NewReader(form[:n]))
		if err == nil {
			t.Errorf("%d of %d bytes are taken for a form: %q", n, whole, form[max(0, n-20):n])
		}
		is.True(!errors.Is(err, io.EOF)) // which callers take for an end
	}
}

// Read returns the error of the body.
func TestReadFails(t *testing.T) {
	is := is.New(t)
	broken := errors.New("broken")
	for _, n := range []int{0, 5, 40, 90, len(form) - 1} {
		_, err := read(io.MultiReader(strings.NewReader(form[:n]), iotest.ErrReader(broken)))
		is.True(errors.Is(err, broken))
	}
}

// The first error of take is returned, and nothing is read after it.
func TestTakeFails(t *testing.T) {
	is := is.New(t)
	no := errors.New("no")
	calls := 0
	err := formdata.Read(strings.NewReader(form), "b", func(formdata.Part) error { calls++; return no })
	is.Equal(err, no)
	is.Equal(calls, 1)
}

// The rest of a part that take leaves is passed over.
func TestPartsArePassedOver(t *testing.T) {
	is := is.New(t)
	var names []string
	is.NoErr(formdata.Read(strings.NewReader(form), "b", func(p formdata.Part) error {
		names = append(names, p.Name)
		return nil
	}))
	is.Equal(names, []string{"prompt", "image", "image", "image", "image", "image"})
}

// The error of a form that is too large in anything says in what.
func TestLimits(t *testing.T) {
	text := part(`form-data; name="n"`, "1")
	for name, c := range map[string]struct{ body, says string }{
		"parts": {strings.Repeat(text, 65) + end, "the form has more than 64 parts"},
		"a header": {part(strings.Repeat("x", 70_000), "") + end,
			"the header of a part is longer than 65536 bytes"},
		"headers": {"--b\r\n" + strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 80),
			"the header of a part is longer than 65536 bytes"},
		"a preamble": {strings.Repeat("x\r\n", 50_000) + text + end,
			"the header of a part is longer than 65536 bytes"},
		"a later header": {text + part(strings.Repeat("x", 70_000), "") + end,
			"the header of a part is longer than 65536 bytes"},
		"an epilogue": {text + end + strings.Repeat("x", 80<<10),
			"more than 65536 bytes follow the end of the form"},
		"no name":          {part(`form-data; filename="x"`, "") + end, "each part needs a header such as"},
		"an empty name":    {part(`form-data; name=""`, "") + end, "each part needs a header such as"},
		"no form-data":     {part(`attachment; name="n"`, "") + end, "each part needs a header such as"},
		"no disposition":   {"--b\r\n\r\nx\r\n" + end, "each part needs a header such as"},
		"half a parameter": {part(`form-data; name="n`, "") + end, "each part needs a header such as"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := read(strings.NewReader(c.body))
			is.True(errors.Is(err, imagegen.ErrInvalidRequest))
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
	_, err := read(strings.NewReader(strings.Repeat(text, 64) + end))
	is.New(t).NoErr(err)
}

// A part in a transfer encoding is refused by name; the media type that a file claims has no effect.
func TestEncodings(t *testing.T) {
	text, file := `form-data; name="prompt"`, `form-data; name="image"; filename="a"`
	for _, c := range []struct{ header, says string }{ // says "": it is taken
		{text + "\r\nContent-Transfer-Encoding: base64", `"prompt" has the Content-Transfer-Encoding "base64"`},
		{text + "\r\nContent-Transfer-Encoding: x-other", `"prompt" has the Content-Transfer-Encoding "x-other"`},
		{file + "\r\nContent-Transfer-Encoding: Base64", `"image" has the Content-Transfer-Encoding "Base64"`},
		{text + "\r\nContent-Transfer-Encoding: 7bit", ""},
		{text + "\r\nContent-Transfer-Encoding: 8BIT", ""},
		{file + "\r\nContent-Transfer-Encoding: binary", ""},
		{text + "\r\nContent-Transfer-Encoding: quoted-printable", ""}, // it is decoded
		{text + "\r\nContent-Type: text/plain; charset=utf-7", `"prompt" must be UTF-8`},
		{text + "\r\nContent-Type: text/plain; charset=utf-16", `"prompt" must be UTF-8`},
		{text + "\r\nContent-Type: text/plain; charset=ISO-8859-1", ""}, // some clients say so of all
		{text + "\r\nContent-Type: text/plain; charset", `"prompt" must be UTF-8`},
		{text + "\r\nContent-Type: text/plain; charset=\"UTF-8\"", ""},
		{text + "\r\nContent-Type: text/plain; charset=us-ascii", ""},
		{text + "\r\nContent-Type: application/json", ""},
		{file + "\r\nContent-Type: text/plain; charset=utf-7", ""},
	} {
		t.Run(c.header, func(t *testing.T) {
			is := is.New(t)
			all, err := read(strings.NewReader(part(c.header, "a=20fox=") + end))
			if c.says != "" {
				is.True(errors.Is(err, imagegen.ErrInvalidRequest))
				is.True(strings.Contains(err.Error(), c.says))
				return
			}
			is.NoErr(err)
			is.Equal(len(all), 1)
		})
	}
	_, err := read(strings.NewReader(part(`form-data; name="`+strings.Repeat("x", 5000)+`"`+
		"\r\nContent-Transfer-Encoding: "+strings.Repeat("y", 5000), "") + end))
	is.New(t).True(len(err.Error()) < 300) // what was sent is not repeated at length
}

// The unread rest of a part does not count as the header of the next.
func TestPartThatIsNotRead(t *testing.T) {
	is, names := is.New(t), ""
	body := part(`form-data; name="a"; filename="a"`, strings.Repeat("x", 1<<20)) + part(`form-data; name="b"`, "b") +
		end
	is.NoErr(formdata.Read(strings.NewReader(body), "b", func(p formdata.Part) error {
		names += p.Name
		return nil
	}))
	is.Equal(names, "ab")
}

// A large file passes through without being held, and the limits do not count its bytes.
func TestLargeFile(t *testing.T) {
	is := is.New(t)
	const size = 64 << 20
	before, after, _ := strings.Cut(part(`form-data; name="image"; filename="a"`, "CONTENT")+end, "CONTENT")
	body := io.MultiReader(strings.NewReader(before), io.LimitReader(zeros{}, size), strings.NewReader(after))
	var from, to runtime.MemStats
	runtime.ReadMemStats(&from)
	var n int64
	is.NoErr(formdata.Read(body, "b", func(p formdata.Part) (err error) {
		n, err = io.Copy(io.Discard, p)
		return err
	}))
	runtime.ReadMemStats(&to)
	is.Equal(n, int64(size))
	is.True(to.TotalAlloc-from.TotalAlloc < 1<<20)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// No bytes make the reader panic, nor do they become parts without a name.
func FuzzRead(f *testing.F) {
	f.Add([]byte(form))
	f.Add([]byte(part(`form-data; name="n"`, "1")))
	f.Fuzz(func(t *testing.T, body []byte) {
		all, err := read(bytes.NewReader(body))
		if err != nil {
			return
		}
		for _, p := range all {
			if p.Name == "" || strings.ContainsAny(p.FileName, "/") {
				t.Errorf("%+v", p)
			}
		}
	})
}
