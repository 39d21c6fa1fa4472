package upstream_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

type found struct {
	Path   string
	Places []int
	Text   string
}

func walk(r io.Reader) (all []found, err error) {
	for s, err := range upstream.Strings(r) {
		if err != nil {
			return all, err
		}
		text, err := s.Text()
		if err != nil {
			return all, err
		}
		all = append(all, found{s.Path, slices.Clone(s.Places), text})
	}
	return all, nil
}

func TestStrings(t *testing.T) {
	for document, want := range map[string][]found{
		`"a"`:             {{"", nil, "a"}},
		` { } `:           nil,
		`[]`:              nil,
		`{"a":{"b":"c"}}`: {{"a.b", nil, "c"}},
		`{"data":[{"x":1.5e3,"b64":"AA"},null,{"y":[true,["z"]],"b64":"BB"}],"size":"auto"}`: {
			{"data[].b64", []int{0}, "AA"}, {"data[].y[][]", []int{2, 1, 0}, "z"}, {"data[].b64", []int{2}, "BB"},
			{"size", nil, "auto"}},
		`{"a":{"url":"u","tags":["x","y"],"b64":"b"}}`: {
			{"a.url", nil, "u"}, {"a.tags[]", []int{0}, "x"}, {"a.tags[]", []int{1}, "y"}, {"a.b64", nil, "b"}},
		`["\"\\\/\b\f\n\r\t"]`:      {{"[]", []int{0}, "\"\\/\b\f\n\r\t"}},
		`["A\u002BB\u003d\u003D"]`:  {{"[]", []int{0}, "A+B=="}},
		`["\ud83e\udd8a \ud83e x"]`: {{"[]", []int{0}, "🦊 \ufffd x"}},
		// half a pair costs nothing that follows
		`["\ud83e\u00e9\ud83e\ud83e\udd8a"]`:  {{"[]", []int{0}, "\ufffdé\ufffd🦊"}},
		"{\n\t\"a\" : \"b\" ,\r\n \"c\":-1 }": {{"a", nil, "b"}},
		`12`:                                  nil,
	} {
		t.Run(document, func(t *testing.T) {
			is := is.New(t)
			for name, r := range map[string]io.Reader{
				"whole":        strings.NewReader(document),
				"byte by byte": iotest.OneByteReader(strings.NewReader(document)),
				"with its end": iotest.DataErrReader(strings.NewReader(document)),
				"half by half": iotest.HalfReader(strings.NewReader(document)),
			} {
				got, err := walk(r)
				is.NoErr(err)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Error(name, diff)
				}
			}
		})
	}
}

func TestStringsRefuses(t *testing.T) {
	for _, document := range []string{
		``, ` `, `{`, `[`, `{"a"`, `{"a":`, `{"a":"b`, `{"a":"b"`, `["a",`, `["a"`, `"\`, `"\u12`, `{"a":"b",}`,
		`{a:1}`, `<html>`, `{"a":"b"} x`, `["a" "b"]`, `"\x"`, `"\u12g4"`, strings.Repeat("[", 100), `{"` +
			strings.Repeat("n", 2000) + `":"x"}`,
	} {
		t.Run(document[:min(20, len(document))], func(t *testing.T) {
			_, err := walk(strings.NewReader(document))
			is.New(t).True(err != nil)
		})
	}
}

// deep is a document whose values lie at a path of depth names, each of so many bytes.
func deep(depth, name, values int) string {
	return strings.Repeat(`{"`+strings.Repeat("n", name)+`":`, depth) + "{" + strings.Repeat(`"":"",`, values) +
		`"end":"x"` + "}" + strings.Repeat("}", depth)
}

// A path is copied for each value below it: of a long one, a document of a few megabytes took minutes.
func TestStringsBoundsPaths(t *testing.T) {
	is := is.New(t)
	_, err := walk(strings.NewReader(deep(60, 1000, 100_000)))
	is.True(err != nil && strings.Contains(err.Error(), "a path of more than 1024 bytes"))
	all, err := walk(strings.NewReader(deep(60, 15, 3)))
	is.NoErr(err)
	is.Equal(len(all), 4)
	is.True(strings.HasSuffix(all[3].Path, ".nnnnnnnnnnnnnnn.end") && len(all[3].Path) == 60*16+3)
}

// The unread rest of one string does not spill into the next.
func TestStringsSkipsWhatIsNotRead(t *testing.T) {
	is := is.New(t)
	var paths []string
	for s, err := range upstream.Strings(strings.NewReader(`{"a":"long \" \\ text","b":"c"}`)) {
		is.NoErr(err)
		paths = append(paths, s.Path)
	}
	is.Equal(paths, []string{"a", "b"})
}

func TestStringsTellsOfABrokenReader(t *testing.T) {
	is := is.New(t)
	broken := errors.New("connection reset")
	_, err := walk(io.MultiReader(strings.NewReader(`{"a":"b`), iotest.ErrReader(broken)))
	is.True(errors.Is(err, broken))
	_, err = walk(strings.NewReader(`{"a":"b`))
	is.True(errors.Is(err, io.ErrUnexpectedEOF))
}

// A long string passes through without being held.
func TestStringsHoldsNothing(t *testing.T) {
	is := is.New(t)
	const length = 16 << 20
	document := io.MultiReader(strings.NewReader(`{"data":[{"b64_json":"`), io.LimitReader(letters{}, length),
		strings.NewReader(`"}]}`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for s, err := range upstream.Strings(document) {
		is.NoErr(err)
		n, err := io.Copy(io.Discard, upstream.Base64(s))
		is.NoErr(err)
		is.Equal(n, int64(length/4*3))
	}
	runtime.ReadMemStats(&after)
	is.True(after.TotalAlloc-before.TotalAlloc < 1<<20)
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	return len(p), nil
}

// BenchmarkImageInJSON reads images of noise as a store does: 64 KiB at a time.
func BenchmarkImageInJSON(b *testing.B) {
	image := make([]byte, 1_460_000)
	rand.NewChaCha8([32]byte{}).Read(image)
	encoded := base64.StdEncoding.EncodeToString(image)
	for name, text := range map[string]string{
		"plain":              encoded,
		"of escaped slashes": strings.ReplaceAll(encoded, "/", `\/`),
	} {
		b.Run(name, func(b *testing.B) {
			document := `{"data":[{"b64_json":"` + text + `"}]}`
			b.SetBytes(int64(len(image)))
			b.ReportAllocs()
			buffer := make([]byte, 64<<10)
			for b.Loop() {
				for s, err := range upstream.Strings(strings.NewReader(document)) {
					if err != nil {
						b.Fatal(err)
					}
					if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, upstream.Base64(s),
						buffer); err != nil || int(n) != len(image) {
						b.Fatal(n, err)
					}
				}
			}
		})
	}
}

// FuzzStrings compares with encoding/json: what that takes is read the same, and nothing panics.
func FuzzStrings(f *testing.F) {
	f.Add(`{"data":[{"b64_json":"AA","n":1},["\u00e9\n"]],"b":null}`)
	f.Fuzz(func(t *testing.T, document string) {
		got, err := walk(iotest.HalfReader(strings.NewReader(document)))
		var v any
		if json.Unmarshal([]byte(document), &v) != nil || !utf8.ValidString(document) || strings.Count(document, "[")+
			strings.Count(document, "{") > 60 || len(document) > 1000 {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", document, err)
		}
		if strings.Contains(document, `"`) && repeats(document) {
			return // encoding/json keeps the last of a name that stands twice
		}
		var a, b []string
		for _, s := range got {
			a = append(a, s.Text)
		}
		b = texts(v, b)
		sort.Strings(a)
		sort.Strings(b)
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("%q: %s", document, diff)
		}
	})
}

// texts are all string values within v.
func texts(v any, to []string) []string {
	switch v := v.(type) {
	case string:
		to = append(to, v)
	case []any:
		for _, e := range v {
			to = texts(e, to)
		}
	case map[string]any:
		for _, e := range v {
			to = texts(e, to)
		}
	}
	return to
}

// repeats reports whether a name stands twice in one object.
func repeats(document string) bool {
	d := json.NewDecoder(strings.NewReader(document))
	var names []map[string]bool // of the objects that are open; nil for an array
	name := false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'):
			names, name = append(names, map[string]bool{}), true
			continue
		case json.Delim('['):
			names, name = append(names, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			names = names[:len(names)-1]
		default:
			if name {
				key := fmt.Sprint(token)
				if names[len(names)-1][key] {
					return true
				}
				names[len(names)-1][key], name = true, false
				continue
			}
		}
		name = len(names) > 0 && names[len(names)-1] != nil
	}
}

// A number or a name without an end is not held.
func TestStringsBoundsNumbersAndNames(t *testing.T) {
	is := is.New(t)
	for _, begin := range []string{`{"a":1`, `{"1`} {
		_, err := walk(io.MultiReader(strings.NewReader(begin), letters{}))
		is.True(err != nil && strings.Contains(err.Error(), "of more than 65536 bytes"))
	}
}
