package upstream_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func TestBase64(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"Zm94":                               "fox",
		"Zm94ZXM=":                           "foxes",
		"Zm94\nZXM=\r\n":                     "foxes",
		"data:image/png;base64,Zm94":         "fox",
		"data:application/x;a=b;base64,eA==": "x",
		" \n Zm94 ":                          "fox",
		"\tData:image/png;base64, Zm94":      "fox",
		"Zm9":                                "fo", // without padding
		"Zm94ZX":                             "foxe",
		"-_-_-_-_-_-_-w":                     "\xfb\xff\xbf\xfb\xff\xbf\xfb\xff\xbf\xfb", // for URLs
		"-_+/":                               "\xfb\xff\xbf",
	} {
		is := is.New(t)
		got, err := io.ReadAll(upstream.Base64(iotest.OneByteReader(strings.NewReader(text))))
		is.NoErr(err)
		is.Equal(string(got), want)
	}
	for _, text := range []string{"Z", "Zm94Z", "Zm9!", "Zm9=A", "Zm94ZX=", "data:image/png;base64", "data:" +
		strings.Repeat("x", 300) + ",Zm94"} {
		_, err := io.ReadAll(upstream.Base64(strings.NewReader(text)))
		is.New(t).True(err != nil)
	}
}

// decoded is what Base64 makes of a text that comes in pieces, within a JSON document or by itself, read in pieces.
func decoded(text string, inJSON, inPieces bool) ([]byte, error) {
	if !inJSON {
		r := io.Reader(strings.NewReader(text))
		if inPieces {
			r = iotest.OneByteReader(r)
		}
		return io.ReadAll(upstream.Base64(r))
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	r := io.Reader(bytes.NewReader(bytes.ReplaceAll(raw, []byte("/"), []byte(`\/`))))
	if inPieces {
		r = iotest.HalfReader(r)
	}
	for s, err := range upstream.Strings(r) {
		if err != nil {
			return nil, err
		}
		if inPieces {
			return io.ReadAll(iotest.OneByteReader(upstream.Base64(s)))
		}
		return io.ReadAll(upstream.Base64(s))
	}
	return nil, io.ErrUnexpectedEOF
}

// FuzzBase64 compares with encoding/base64, whatever the pieces are in which the text comes and is read.
func FuzzBase64(f *testing.F) {
	random := make([]byte, 300_000) // some buffers
	rand.NewChaCha8([32]byte{}).Read(random)
	for n := range 30 {
		f.Add(base64.StdEncoding.EncodeToString(random[:n]))
	}
	for _, text := range []string{base64.StdEncoding.EncodeToString(random), "AA==AA==", "AA==AAAAAAAAAAAA", "AA==\n\n",
		"AA=\r\n=", "A=AA", "AAAAAAAA=", "AAAA\nAAAAAAAAAAAAA\nAAA", "AAAAAAAAAAAAAAA\"", "AAAAAAA\\",
		"AAAA-AAA_AAAAAAA", "\x00", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoding := base64.StdEncoding
		if !strings.Contains(text, "=") {
			encoding = base64.RawStdEncoding
		}
		want, wrong := encoding.DecodeString(strings.NewReplacer("-", "+", "_", "/", " ", "", "\t", "").Replace(text))
		if !utf8.ValidString(text) || strings.HasPrefix(text, "data:") {
			return
		}
		for n := range 4 {
			got, err := decoded(text, n&1 != 0, n&2 != 0)
			if (err == nil) != (wrong == nil) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%.100q is %d bytes and %v, want %d and %v", text, len(got), err, len(want), wrong)
			}
		}
	})
}

// Base64 yields what has come, without waiting for what follows.
func TestBase64DoesNotWait(t *testing.T) {
	is := is.New(t)
	r, w := io.Pipe()
	defer r.Close()
	go w.Write([]byte("Zm94Zm94Zm94Zm94"))
	p := make([]byte, 100)
	n, err := upstream.Base64(r).Read(p)
	is.NoErr(err)
	is.Equal(string(p[:n]), "foxfoxfoxfox")
}

func TestBegin(t *testing.T) {
	is := is.New(t)
	for s, err := range upstream.Values(
		strings.NewReader(`{"a":"","b":"\u0068ttps:\/\/fox","c":true,"d":"broken`)) {
		if err != nil {
			break
		}
		begin := s.Beginning(len("https:"))
		text, err := s.Text()
		is.Equal(err != nil, s.Path == "d")
		is.True(strings.HasPrefix(text, begin))
		is.Equal(begin, map[string]string{"b": "https:", "d": "broken"}[s.Path])
	}
}
