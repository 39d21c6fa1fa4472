package clients

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// daemon is a service in another process.
func daemon(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t), path: "/v1"}
	s.startDaemon()
	return s
}

// node runs a program with the address and the key, and reads what it writes.
func (s *site) node(v any, program string, args ...string) {
	s.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		s.Fatal("NOT RUN: there is no Node; .ci/run clients installs the package")
	}
	out, err := exec.Command(node, append([]string{"node/" + program, s.url + s.path, s.key}, args...)...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		s.Fatalf("%v: %s", err, exit.Stderr)
	}
	s.is.NoErr(err)
	s.is.NoErr(json.Unmarshal(out, v))
}

// files are pictures on the disk.
func (s *site) files(n int) (paths []string) {
	s.Helper()
	for i := range n {
		path := filepath.Join(s.TempDir(), fmt.Sprintf("%d.png", i))
		s.is.NoErr(os.WriteFile(path, picture(30+i), 0o600))
		paths = append(paths, path)
	}
	return paths
}

func picture(edge int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, edge, edge))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// made is an answer, or an event of a stream.
type made struct {
	Data []struct {
		B64 []byte `json:"b64_json"`
	}
	Type    string
	B64     []byte `json:"b64_json"`
	Credits int
}

// references is how many reference images the latest generation had.
func (s *site) references() int {
	s.Helper()
	var list struct {
		Data []struct {
			Count int `json:"reference_count"`
		}
	}
	s.read("/api/v1/generations?limit=1", &list)
	return list.Data[0].Count
}

func TestNodeGenerates(t *testing.T) {
	s := daemon(t)
	var a made
	s.node(&a, "shape.mjs", "generate")
	s.is.Equal(len(a.Data), 2)
	for _, d := range a.Data {
		s.decodes(d.B64)
	}
	s.is.Equal(a.Credits, 2)
	s.spent(2, "succeeded")
}

func TestNodeEdits(t *testing.T) {
	s := daemon(t)
	for _, n := range []int{1, 16} {
		var a made
		s.node(&a, "shape.mjs", append([]string{"edit"}, s.files(n)...)...)
		s.is.Equal(len(a.Data), 1)
		s.decodes(a.Data[0].B64)
		s.is.Equal(s.references(), n)
	}
	s.spent(2, "succeeded", "succeeded")
}

func TestNodeListsModels(t *testing.T) {
	s := daemon(t)
	type model struct{ ID, Object string }
	var a struct {
		List []model
		One  model
	}
	s.node(&a, "shape.mjs", "models")
	s.is.Equal(a.List, []model{{"fake-1", "model"}})
	s.is.Equal(a.One, a.List[0])
}

func TestNodeStreams(t *testing.T) {
	s := daemon(t)
	for _, c := range []struct {
		args   []string
		object string
		images int
	}{
		{[]string{"stream"}, "image_generation", 2},
		{append([]string{"streamedEdit"}, s.files(2)...), "image_edit", 1},
	} {
		var events []made
		s.node(&events, "shape.mjs", c.args...)
		s.is.Equal(len(events), c.images+1)
		for _, e := range events[:c.images] {
			s.is.Equal(e.Type, c.object+".completed")
			s.decodes(e.B64)
		}
		s.is.Equal(events[c.images].Type, c.object+".settled")
		s.is.Equal(events[c.images].Credits, c.images)
	}
}

// The client makes errors of its own of what is answered, and repeats none of these.
func TestNodeErrors(t *testing.T) {
	s := daemon(t)
	type failure struct {
		Name, Code, Type, Message, Request string
		Status                             int
		Param                              *string
	}
	for what, want := range map[string]failure{
		"refused": {Name: "BadRequestError", Status: 400, Code: "invalid_request", Type: "invalid_request_error"},
		"policy":  {Name: "BadRequestError", Status: 400, Code: "generationFailed", Type: "invalid_request_error"},
		"poor":    {Name: "APIError", Status: 402, Code: "insufficientCredits", Type: "insufficient_quota"},
	} {
		var got failure
		s.node(&got, "shape.mjs", what)
		s.is.True(got.Request != "" && got.Message != "")
		s.is.Equal(got.Param != nil && *got.Param == "seed", what == "refused")
		got.Request, got.Message, got.Param = "", "", nil
		s.is.Equal(got, want)
	}
	s.spent(0, "failed") // of the three, one was begun
}

// The AI SDK, which asks for base64 in a field that gpt-image-1 does not take.
func TestNodeAISDK(t *testing.T) {
	s := daemon(t)
	var images [][]byte
	s.node(&images, "aisdk.mjs")
	s.is.Equal(len(images), 2)
	for _, b := range images {
		s.decodes(b)
	}
	s.spent(2, "succeeded")
}

func TestGo(t *testing.T) {
	s := daemon(t)
	c := openai.NewClient(option.WithAPIKey(s.key), option.WithBaseURL(s.url+"/v1"))
	decode := func(r *openai.ImagesResponse, err error) {
		t.Helper()
		s.is.NoErr(err)
		for _, d := range r.Data {
			b, err := base64.StdEncoding.DecodeString(d.B64JSON)
			s.is.NoErr(err)
			s.decodes(b)
		}
		s.is.Equal(r.OutputFormat, openai.ImagesResponseOutputFormatPNG)
	}
	decode(c.Images.Generate(t.Context(), openai.ImageGenerateParams{Model: "fake-1", Prompt: "a fox", Size: "64x48",
		N: openai.Int(2), Quality: openai.ImageGenerateParamsQualityHigh,
		Background: openai.ImageGenerateParamsBackgroundOpaque}))
	var edit openai.ImageEditParams
	for range 16 {
		edit.Image.OfFileArray = append(edit.Image.OfFileArray, bytes.NewReader(picture(30)))
	}
	edit.Model, edit.Prompt, edit.Size = "fake-1", "a fox", "64x48"
	decode(c.Images.Edit(t.Context(), edit))
	s.is.Equal(s.references(), 16)

	models, err := c.Models.List(t.Context())
	s.is.NoErr(err)
	s.is.Equal(models.Data[0].ID, "fake-1")

	stream := c.Images.GenerateStreaming(t.Context(), openai.ImageGenerateParams{Model: "fake-1", Prompt: "a fox",
		Size: "64x48"})
	var types []string
	for stream.Next() {
		e := stream.Current()
		types = append(types, e.Type)
		if e.B64JSON != "" {
			b, err := base64.StdEncoding.DecodeString(e.B64JSON)
			s.is.NoErr(err)
			s.decodes(b)
		}
	}
	s.is.NoErr(stream.Err())
	s.is.Equal(types, []string{"image_generation.completed", "image_generation.settled"})

	_, err = c.Images.Generate(t.Context(), openai.ImageGenerateParams{Model: "fake-1", Prompt: "a fox",
		Style: "vivid"})
	e, ok := errors.AsType[*openai.Error](err)
	s.is.True(ok)
	s.is.Equal(e.StatusCode, 400)
	s.is.Equal(e.Param, "style")
	s.is.True(strings.HasPrefix(e.Message, "style "))
	s.spent(4, "succeeded", "succeeded", "succeeded")
}
