package upstream_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

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
	} {
		is := is.New(t)
		got, err := io.ReadAll(upstream.Base64(iotest.OneByteReader(strings.NewReader(text))))
		is.NoErr(err)
		is.Equal(string(got), want)
	}
	for _, text := range []string{"Zm9", "Zm9!", "data:image/png;base64", "data:" + strings.Repeat("x", 300) + ",Zm94"} {
		_, err := io.ReadAll(upstream.Base64(strings.NewReader(text)))
		is.New(t).True(err != nil)
	}
}
