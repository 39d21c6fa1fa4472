package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// shelf is a service with five generations of Alice's, of which two failed, and one of Bob's.
type shelf struct {
	h     http.Handler
	key   string
	image imagegen.ImageID
	bytes string
	etag  string
	all   []generation      // Alice's, newest first
	ids   *strings.Replacer // {0} to {4} in a query are Alice's, the newest first; {bob} is Bob's
}

func stock(f *testing.F) *shelf {
	f.Helper()
	is := is.New(f)
	e := imagegentest.Start(f)
	s := &shelf{h: httpapi.NewHandler(e.Engine, httpapi.Options{}), key: e.Key(f, imagegentest.Alice)}
	bob, err := e.As(imagegentest.Bob).Generate(f.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: "a fox", Size: imagegen.Size{Width: 64, Height: 48}})
	is.NoErr(err)
	names := []string{"{bob}", string(bob.ID)}
	for i := range 5 {
		q := imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: "a fox", Size: imagegen.Size{Width: 64,
			Height: 48}}
		if i%2 == 1 {
			q.Prompt = "[fake:fail]"
		}
		r, err := e.As(imagegentest.Alice).Generate(f.Context(), q)
		is.Equal(err == nil, i%2 == 0)
		if err == nil {
			s.image = r.Images[0].ID
		}
	}
	p, err := e.As(imagegentest.Alice).Generations(f.Context(), imagegen.Query{})
	is.NoErr(err)
	for i, g := range p.Generations {
		s.all = append(s.all, generation{ID: string(g.ID), Status: string(g.Status)})
		names = append(names, fmt.Sprintf("{%d}", i), string(g.ID))
	}
	s.ids = strings.NewReplacer(names...)
	file, err := e.As(imagegentest.Alice).OpenImage(f.Context(), s.image)
	is.NoErr(err)
	defer file.Close()
	b, err := io.ReadAll(file)
	is.NoErr(err)
	s.bytes, s.etag = string(b), `"`+file.ETag+`"`
	return s
}

// A list has what its query asks for and is refused what makes no sense, whatever the query; nobody
// else's generations are in it.
func FuzzQuery(f *testing.F) {
	s := stock(f)
	f.Fuzz(func(t *testing.T, query string) {
		query = s.ids.Replace(query)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/generations", nil)
		r.URL.RawQuery = query
		r.Header.Set("Authorization", "Bearer "+s.key)
		w := httptest.NewRecorder()
		s.h.ServeHTTP(w, r)
		var got struct {
			Data       []generation
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
		err := json.Unmarshal(w.Body.Bytes(), &got)
		want, more, ok := s.page(query)
		switch {
		case err != nil:
			t.Fatalf("%q: %s: %v", query, w.Body, err)
		case !ok && w.Code != http.StatusBadRequest, ok && w.Code != http.StatusOK:
			t.Fatalf("%q: %d %s", query, w.Code, w.Body)
		case !ok:
			return
		}
		sameIDs := slices.EqualFunc(got.Data, want, func(a, b generation) bool {
			return a.ID == b.ID && a.Status == b.Status
		})
		if !sameIDs || got.HasMore != more || (got.NextCursor != nil) != more {
			t.Fatalf("%q: %s; want %v, more %t", query, w.Body, want, more)
		}
		if more && *got.NextCursor != want[len(want)-1].ID {
			t.Fatalf("%q: the next page begins behind %s", query, *got.NextCursor)
		}
	})
}

// page is what a query asks for; ok is false if it makes no sense.
func (s *shelf) page(query string) (page []generation, more, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, false, false
	}
	limit := 20
	for name, sent := range values {
		v := sent[0]
		switch {
		case len(sent) > 1 || v == "":
			return nil, false, false
		case name == "limit":
			limit, err = strconv.Atoi(v)
			ok = err == nil && limit >= 1 && limit <= 100 && strconv.Itoa(limit) == v
		case name == "after":
			ok = imagegen.GenerationID(v).Valid()
		case name == "status":
			ok = slices.Contains(imagegen.Statuses(), imagegen.Status(v))
		default:
			ok = false
		}
		if !ok {
			return nil, false, false
		}
	}
	after, status := values.Get("after"), values.Get("status")
	for _, g := range s.all {
		if (after == "" || g.ID < after) && (status == "" || g.Status == status) {
			page = append(page, g)
		}
	}
	return page[:min(limit, len(page))], len(page) > limit, true
}

// An answer has the bytes of the image that were asked for, and never more than there are.
func FuzzRanges(f *testing.F) {
	s := stock(f)
	f.Fuzz(func(t *testing.T, ranges, ifNoneMatch, ifRange string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/images/"+string(s.image), nil)
		for name, v := range map[string]string{"Range": ranges, "If-None-Match": ifNoneMatch, "If-Range": ifRange} {
			if v != "" {
				r.Header.Set(name, strings.ReplaceAll(v, "{etag}", s.etag))
			}
		}
		w := httptest.NewRecorder()
		s.h.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK:
			if w.Body.String() != s.bytes || w.Header().Get("ETag") != s.etag {
				t.Errorf("%q: %d bytes of others", r.Header, w.Body.Len())
			}
		case http.StatusPartialContent:
			s.parts(t, w.Header(), w.Body)
		case http.StatusNotModified:
			if w.Body.Len() > 0 || !strings.Contains(r.Header.Get("If-None-Match"), s.etag) &&
				!strings.Contains(ifNoneMatch, "*") {
				t.Errorf("%q: not modified", r.Header)
			}
		case http.StatusRequestedRangeNotSatisfiable:
			if ranges == "" || !json.Valid(w.Body.Bytes()) || w.Body.Len() > 800 {
				t.Errorf("%q: %q", r.Header, w.Body)
			}
		default:
			t.Errorf("%q: %d %s", r.Header, w.Code, w.Body)
		}
	})
}

// parts checks one range or several of the image.
func (s *shelf) parts(t *testing.T, h http.Header, body io.Reader) {
	t.Helper()
	is := is.New(t)
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	is.NoErr(err)
	if mediaType != "multipart/byteranges" {
		is.True(s.part(t, h.Get("Content-Range"), body) <= len(s.bytes))
		return
	}
	total := 0
	for in := multipart.NewReader(body, params["boundary"]); ; {
		part, err := in.NextPart()
		if err == io.EOF {
			break
		}
		is.NoErr(err)
		total += s.part(t, part.Header.Get("Content-Range"), part)
	}
	is.True(total <= len(s.bytes)) // many ranges that overlap get the whole, once
}

// part checks one range and returns its length.
func (s *shelf) part(t *testing.T, where string, body io.Reader) int {
	t.Helper()
	is := is.New(t)
	var first, last, size int
	_, err := fmt.Sscanf(where, "bytes %d-%d/%d", &first, &last, &size)
	is.NoErr(err)
	is.Equal(size, len(s.bytes))
	got, err := io.ReadAll(body)
	is.NoErr(err)
	is.Equal(string(got), s.bytes[first:last+1])
	return len(got)
}
