package sdktest_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image/png"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/matryer/is"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
)

func connect(t *testing.T, key string) (openai.Client, *openaitest.Server) {
	upstream := &openaitest.Server{}
	s := httptest.NewServer(upstream)
	t.Cleanup(s.Close)
	return openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(s.URL+"/v1"), option.WithMaxRetries(0)), upstream
}

func checkImages(is *is.I, answer *openai.ImagesResponse, n, width, height int) {
	is.Equal(len(answer.Data), n)
	for _, i := range answer.Data {
		raw, err := base64.StdEncoding.DecodeString(i.B64JSON)
		is.NoErr(err)
		c, err := png.DecodeConfig(bytes.NewReader(raw))
		is.NoErr(err)
		is.Equal([2]int{c.Width, c.Height}, [2]int{width, height})
	}
	is.True(answer.Usage.TotalTokens > 0)
}

func TestGenerate(t *testing.T) {
	is := is.New(t)
	client, _ := connect(t, openaitest.Key)
	answer, err := client.Images.Generate(t.Context(), openai.ImageGenerateParams{
		Model: "gpt-image-2", Prompt: "a fox", N: openai.Int(2), Size: "1280x720",
		Quality: openai.ImageGenerateParamsQualityHigh})
	is.NoErr(err)
	checkImages(is, answer, 2, 1280, 720)
	is.Equal(string(answer.Size), "1280x720")
	is.Equal(string(answer.Quality), "high")
}

func TestEdit(t *testing.T) {
	is := is.New(t)
	client, upstream := connect(t, openaitest.Key)
	file := func(name string) io.Reader {
		return openai.File(bytes.NewReader([]byte("\x89PNG\r\n\x1a\n and so on")), name, "image/png")
	}
	answer, err := client.Images.Edit(t.Context(), openai.ImageEditParams{
		Model: "gpt-image-2", Prompt: "as a comic",
		Image: openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{file("a.png"), file("b.png")}}})
	is.NoErr(err)
	checkImages(is, answer, 1, 1024, 1024)
	files := upstream.Requests()[0].Files
	is.Equal(len(files), 2)
	is.Equal(files[1].Field, "image[]") // as package openai sends them
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		params openai.ImageGenerateParams
		status int
		code   string
	}{
		"bad key": {"sk-wrong", openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-2"}, 401,
			"invalid_api_key"},
		"moderation": {openaitest.Key, openai.ImageGenerateParams{Prompt: openaitest.Forbidden, Model: "gpt-image-2"},
			400, "moderation_blocked"},
		"size": {openaitest.Key, openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-2",
			Size: "512x512"}, 400, "invalid_value"},
		"format": {openaitest.Key, openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-2",
			ResponseFormat: openai.ImageGenerateParamsResponseFormatURL}, 400, "invalid_value"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			client, _ := connect(t, c.key)
			_, err := client.Images.Generate(t.Context(), c.params)
			answered, ok := errors.AsType[*openai.Error](err)
			is.True(ok)
			is.Equal(answered.StatusCode, c.status)
			is.Equal(answered.Code, c.code)
		})
	}
}
