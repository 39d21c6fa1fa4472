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

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// encoding/json takes all that Object takes, and understands it in the same way.
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
		for _, r := range []io.Reader{strings.NewReader(string(b)),
			iotest.OneByteReader(strings.NewReader(string(b)))} {
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

// A string that is kept is bounded; one that is read as it comes is not.
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

// An error of the reader is returned as it is, and not taken for the end.
func TestBrokenReader(t *testing.T) {
	const body = `{"a":"b\u0041c","d":[{"e":null}],"f":-1.5}`
	broken := errors.New("broken")
	for n := range len(body) {
		s := jsonscan.New(io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(broken)), func(int64) error {
			return nil
		})
		_, err := object(s, 0)
		is.New(t).True(errors.Is(err, broken))
	}
}

// encoding/json takes all that Check takes, and gives it back in the same way: no name occurs twice.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"x"},{"b":1}],"c":{"a":null}}`))
	f.Add([]byte(`{"a":1,"\u0061":2}`))
	f.Add([]byte(`"x" "y"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if jsonscan.Check(b) == nil && (!json.Valid(b) || !utf8.Valid(b)) {
			t.Fatalf("%q was taken", b)
		}
	})
}

func TestCheck(t *testing.T) {
	for text, fine := range map[string]bool{
		`"a"`: true, `{"a":{"a":{"a":[1]}},"b":[{"a":1},{"a":1}]}`: true, strings.Repeat("[", 30) +
			strings.Repeat("]", 30): true,
		`{"a":1,"a":1}`: false, `{"a":1,"\u0061":1}`: false, `[{"b":{"a":1,"c":2,"a":1}}]`: false, `{} {}`: false,
		`[1]x`: false, ``: false, strings.Repeat("[", 500_000): false, "[" + strings.Repeat("1,", 100_000) +
			"1]": false, "\"\xff\"": false,
	} {
		err := jsonscan.Check([]byte(text))
		if (err == nil) != fine || err != nil && !errors.Is(err, imagegen.ErrInvalidRequest) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	is := is.New(t)
	var v struct {
		Name string `json:"name"`
		In   struct {
			N int `json:"n_1"`
		} `json:"in"`
	}
	is.NoErr(jsonscan.Unmarshal([]byte(`{"name":"Älice","in":{"n_1":7}}`), &v))
	is.True(v.Name == "Älice" && v.In.N == 7)
	for _, text := range []string{`{"Name":"a"}`, `{"in":{"N_1":7}}`, "{\"i\u0274\":1}", `{"other":1}`,
		`{"name":"a","name":"a"}`, `{"in":{"n_1":1,"n_1":2}}`} {
		is.True(jsonscan.Unmarshal([]byte(text), &v) != nil)
	}
}
