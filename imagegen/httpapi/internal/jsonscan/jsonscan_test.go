package jsonscan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/httpapi/internal/jsonscan"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

// What Object takes, encoding/json takes and understands in the same way.
func FuzzObject(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		members := map[string]any{}
		err := jsonscan.Object(b, func(name string, v jsonscan.Value) error {
			if v.Kind == jsonscan.Compound {
				return errCompound
			}
			members[name] = decoded(v)
			return nil
		})
		agrees(t, b, members, err)
	})
}

// So is what a Scanner takes, with objects, arrays and texts that are read as they come, in pieces of any size.
func FuzzScanner(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"x\n\ud83e\udd8a\/"},[],{},null,-1.5e3,true],"c":""}`))
	f.Add([]byte(`{"a":"\ud83e\u0041"}`))
	f.Add([]byte(`{"a":"b\`))
	f.Add([]byte(`{"a":1}}`))
	f.Add([]byte(`{"a":[1,]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var results []string
		for _, r := range []io.Reader{strings.NewReader(string(b)), iotest.OneByteReader(strings.NewReader(string(b)))} {
			s := jsonscan.New(r, func(int64) error { return nil })
			members, err := object(s, 0)
			if err == nil {
				err = s.End()
			}
			agrees(t, b, members, err)
			results = append(results, fmt.Sprint(members, err))
		}
		if results[0] != results[1] {
			t.Fatal(cmp.Diff(results[0], results[1]))
		}
	})
}

var errCompound = errors.New("an object or array within")

func agrees(t *testing.T, b []byte, got map[string]any, err error) {
	t.Helper()
	var want map[string]any
	wantErr := json.Unmarshal(b, &want)
	if err != nil {
		return
	}
	if diff := cmp.Diff(want, got); wantErr != nil || !utf8.Valid(b) || diff != "" {
		t.Fatalf("%q was taken; encoding/json says %v\n%s", b, wantErr, diff)
	}
}

func decoded(v jsonscan.Value) (d any) {
	switch v.Kind {
	case jsonscan.Text:
		return v.Text
	case jsonscan.Null:
		return nil
	}
	if err := json.Unmarshal([]byte(v.Text), &d); err != nil {
		return err
	}
	return d
}

func object(s *jsonscan.Scanner, depth int) (map[string]any, error) {
	members := map[string]any{}
	err := s.Object(func(name string) (err error) {
		members[name], err = element(s, depth)
		return err
	})
	return members, err
}

func element(s *jsonscan.Scanner, depth int) (any, error) {
	kind, err := s.Kind()
	switch {
	case err != nil:
		return nil, err
	case kind == jsonscan.Text:
		b, err := io.ReadAll(s.Reader())
		if err == nil && !utf8.Valid(b) {
			err = errors.New("no UTF-8")
		}
		return string(b), err
	case kind != jsonscan.Compound:
		v, err := s.Value()
		return decoded(v), err
	case depth == 100:
		return nil, errCompound
	}
	list := []any{}
	err = s.Array(func() error {
		e, err := element(s, depth+1)
		list = append(list, e)
		return err
	})
	if err != nil && strings.Contains(err.Error(), "expected an array") {
		return object(s, depth+1)
	}
	return list, err
}

// What is kept is bounded, what is read as it comes is not.
func TestKeep(t *testing.T) {
	full := errors.New("full")
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"little":           {`{"a":"b"}`, nil},
		"a long text":      {`{"a":"` + strings.Repeat("x", 100) + `"}`, full},
		"a long name":      {`{"` + strings.Repeat("x", 100) + `":1}`, full},
		"a long number":    {`{"a":` + strings.Repeat("1", 100) + `}`, full},
		"many":             {`{"a":"` + strings.Repeat(`","a":"`, 100) + `"}`, full},
		"only escapes":     {`{"a":"` + strings.Repeat(`\n`, 100) + `"}`, full},
		"read as it comes": {`{"big":"` + strings.Repeat("x", 1<<20) + `"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			left := int64(50)
			s := jsonscan.New(strings.NewReader(c.body), func(n int64) error {
				if left -= n; left < 0 {
					return full
				}
				return nil
			})
			err := s.Object(func(name string) (err error) {
				if name == "big" {
					_, err = s.Kind()
					is.NoErr(err)
					_, err = io.Copy(io.Discard, s.Reader())
				} else {
					_, err = s.Value()
				}
				return err
			})
			is.True(errors.Is(err, c.want))
		})
	}
}

// What goes wrong with the reader is told as it is, and not taken for the end.
func TestBrokenReader(t *testing.T) {
	const body = `{"a":"b\u0041c","d":[{"e":null}],"f":-1.5}`
	broken := errors.New("broken")
	for n := range len(body) {
		s := jsonscan.New(io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(broken)), func(int64) error { return nil })
		_, err := object(s, 0)
		is.New(t).True(errors.Is(err, broken))
	}
}
