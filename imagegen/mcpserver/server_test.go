package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

func TestTools(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	list, err := a.ListTools(t.Context(), nil)
	a.is.NoErr(err)
	var names, reading []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Annotations.ReadOnlyHint {
			reading = append(reading, tool.Name)
		}
		a.is.True(tool.Description != "" && tool.InputSchema != nil && tool.OutputSchema != nil)
	}
	a.is.True(!a.InitializeResult().Capabilities.Tools.ListChanged) // so no client waits for such news
	slices.Sort(names)
	slices.Sort(reading)
	a.is.Equal(names, []string{"generate_image", "get_balance", "get_generation", "list_generations", "list_models",
		"quote"})
	a.is.Equal(reading, []string{"get_balance", "get_generation", "list_generations", "list_models", "quote"})
}

func TestReading(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	var models struct {
		Models []struct {
			ID      string
			Credits map[string]int
		}
	}
	a.call("list_models", nil, &models)
	a.is.Equal(len(models.Models), 1)
	a.is.Equal(models.Models[0].ID, imagegentest.Model)
	a.is.Equal(models.Models[0].Credits["4K"], 4)

	expires := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	_, err := a.DB.Grant(t.Context(), imagegen.Grant{User: imagegentest.Alice, Credits: 7, Expires: expires})
	a.is.NoErr(err)
	var balance map[string]any
	a.call("get_balance", nil, &balance)
	a.is.Equal(cmp.Diff(map[string]any{"credits": 107.0, "account_type": "FREE", "expiring_credits": 7.0,
		"expires_at": "2100-01-02T03:04:05.000Z"}, balance), "")

	for range 3 {
		a.call("generate_image", map[string]any{"prompt": "a fox", "size": "32x32"}, nil)
	}
	var page struct {
		Generations []seen
		Next        string
	}
	a.call("list_generations", map[string]any{"limit": 2, "status": "succeeded"}, &page)
	a.is.Equal(len(page.Generations), 2)
	a.call("list_generations", map[string]any{"after": page.Next}, &page)
	a.is.Equal(len(page.Generations), 1)
	a.refused("list_generations", map[string]any{"status": "over"}, "invalid_request", "over")
}

// An agent learns that the prices of the list are not all there is.
func TestPriceVaries(t *testing.T) {
	for name, change := range map[string]func(*engine.Config){
		"references": func(c *engine.Config) { c.Models[0].ReferenceCredits = 1 },
		"a function": func(c *engine.Config) {
			c.Models[0].Price = func(context.Context, engine.Order) (imagegen.Credits, error) { return 1, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := alice(t, mcpserver.Options{}, change)
			var list struct {
				Models []struct {
					Varies bool `json:"price_varies"`
				}
			}
			a.call("list_models", nil, &list)
			a.is.True(list.Models[0].Varies)
		})
	}
}

// A list shows how long prompts begin, since a hundred whole ones are more than any client takes, and cost
// the service some hundred megabytes.
func TestListOfLongPrompts(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	prompt := "[fake:fail]" + strings.Repeat("ü", 10_000)
	_, err := a.As(imagegentest.Alice).Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: prompt})
	a.is.True(err != nil)
	var list struct{ Generations []seen }
	a.call("list_generations", nil, &list)
	a.is.True(list.Generations[0].Prompt == "[fake:fail]"+strings.Repeat("ü", 189)+"…")
	r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_generation",
		Arguments: map[string]any{"id": list.Generations[0].ID}})
	a.is.NoErr(err)
	a.is.True(r.StructuredContent.(map[string]any)["prompt"] == prompt)
}

// A quote is what is charged, and charges nothing.
func TestQuote(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	wanted := map[string]any{"prompt": "a fox", "n": 3, "size": "1600x1200"}
	var q struct {
		Credits, Price int
		Tier           string
		Ratio          string `json:"aspect_ratio"`
	}
	a.call("quote", wanted, &q)
	a.is.Equal(a.spent(), 0)
	a.is.Equal(q.Credits, 3*2)
	a.is.Equal(q.Price, 2)
	a.is.Equal(q.Tier, "2K")
	a.is.Equal(q.Ratio, "4:3")
	a.call("generate_image", wanted, nil)
	a.is.Equal(a.spent(), q.Credits)
	a.refused("quote", map[string]any{"prompt": "a fox", "n": 9}, "invalid_request")
}

// A text, a link to the image and a preview; and a structure for who reads it.
func TestGenerate(t *testing.T) {
	a := alice(t, mcpserver.Options{ImageURL: func(id imagegen.ImageID) string {
		return "https://images.example.com/images/" + string(id)
	}})
	var g seen
	r := a.call("generate_image", map[string]any{"prompt": "a fox", "n": 2, "size": "1600x1200"}, &g)
	a.is.Equal(g.Status, "succeeded")
	a.is.Equal(a.spent(), 2*2)
	a.is.Equal(g.Credits, 2*2)
	a.is.Equal(len(g.Images), 2)
	a.is.Equal(len(r.Content), 1+2+1)
	a.is.True(strings.Contains(text(r), g.ID+" is succeeded: 2 of 2 images, 4 credits"))
	link := r.Content[1].(*mcp.ResourceLink)
	a.is.Equal(link.URI, "https://images.example.com/images/"+g.Images[0].ID)
	a.is.Equal(link.MIMEType, "image/png")
	preview := r.Content[3].(*mcp.ImageContent)
	a.is.Equal(preview.MIMEType, "image/jpeg")
	a.is.True(len(preview.Data) <= 512<<10)
	picture, format, err := image.Decode(bytes.NewReader(preview.Data))
	a.is.NoErr(err)
	a.is.Equal(format, "jpeg")
	a.is.Equal(picture.Bounds().Size(), image.Pt(1024, 768))
}

// A generation that takes longer than clients wait is answered with its identifier, and is not asked for again.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := alice(t, mcpserver.Options{})
		began := time.Now()
		var g seen
		r := a.call("generate_image", map[string]any{"prompt": "[fake:delay=60s] a fox", "size": "32x32"}, &g)
		a.is.Equal(time.Since(began), 45*time.Second)
		a.is.Equal(g.Status, "processing")
		a.is.Equal(len(r.Content), 1)
		a.is.True(strings.Contains(text(r), "get_generation"))
		synctest.Wait()
		a.mu.Lock()
		a.is.True(len(a.progress) >= 9)
		for i, p := range a.progress {
			a.is.Equal(p.ProgressToken, "p")
			a.is.True(i == 0 || p.Progress > a.progress[i-1].Progress)
			a.is.True(strings.Contains(p.Message, g.ID))
		}
		a.mu.Unlock()

		a.call("get_generation", map[string]any{"id": g.ID}, &g)
		a.is.Equal(g.Status, "succeeded")
		waited := time.Since(began)
		a.is.True(waited >= 60*time.Second && waited < 63*time.Second)
		a.is.Equal(a.spent(), 1)
	})
}

func TestFailure(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	message := a.refused("generate_image", map[string]any{"prompt": "[fake:refuse] a fox"},
		"is failed; nothing was charged", "generationFailed")
	id := strings.Fields(message)[0]
	a.refused("get_generation", map[string]any{"id": id}, "is failed")
	a.is.Equal(a.spent(), 0)
}

func TestRefusals(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	for _, c := range []struct {
		arguments map[string]any
		mentions  []string
	}{
		{map[string]any{"prompt": "a fox", "model": "none"}, []string{"invalid_request", "none"}},
		{map[string]any{"prompt": "a fox", "size": "huge"}, []string{"invalid_request", "huge"}},
		{map[string]any{"prompt": "a fox", "n": 5}, []string{"invalid_request", "5"}},
		{map[string]any{"prompt": "a fox", "n": 0}, []string{"invalid_request", "n must be from 1 to 4; got 0"}},
		{map[string]any{"prompt": " "}, []string{"invalid_request"}},
		{map[string]any{"prompt": "a fox", "seed": 1},
			[]string{`invalid_request: unknown argument "seed"; known are: max_credits, model, n, `}},
		{map[string]any{"prompt": "a fox", "aspect_ratio": "1:1"},
			[]string{`unknown argument "aspect_ratio"; the nearest known one is size`}},
		{map[string]any{"prompt": "a fox", "save_as": "fox"}, []string{"save_as", "no directory"}},
		{map[string]any{"prompt": "a fox", "references": []string{"/etc/hostname"}}, []string{"files cannot be read"}},
		{map[string]any{"prompt": "a fox", "references": []string{"gen_00000000000000000000000000"}},
			[]string{"notFound"}},
		{map[string]any{}, []string{"prompt"}},
	} {
		a.refused("generate_image", c.arguments, c.mentions...)
	}
	a.refused("get_generation", map[string]any{"id": "nonsense"}, "notFound")
	a.is.Equal(a.spent(), 0)

	poor := over(t, a.Running, a.As(imagegentest.Bob), mcpserver.Options{})
	poor.refused("generate_image", map[string]any{"prompt": "a fox", "n": 4}, "insufficientCredits")
}

// Another user's generations are not there.
func TestOwnership(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	var g seen
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "32x32"}, &g)
	bob := over(t, a.Running, a.As(imagegentest.Bob), mcpserver.Options{})
	const nobodys = "gen_00000000000000000000000000"
	a.is.Equal(bob.refused("get_generation", map[string]any{"id": g.ID}), bob.refused("get_generation",
		map[string]any{"id": nobodys}))
	bob.refused("generate_image", map[string]any{"prompt": "a fox", "references": []string{g.ID}}, "notFound")
	var page struct{ Generations []seen }
	bob.call("list_generations", nil, &page)
	a.is.Equal(len(page.Generations), 0)
}

// unwell is a service in which something goes wrong.
type unwell struct {
	imagegen.Service
	generate func(imagegen.GenerateRequest) error
}

func (u unwell) Generate(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Result, error) {
	if err := u.generate(q); err != nil {
		return imagegen.Result{}, err
	}
	return u.Service.Generate(ctx, q)
}

func (unwell) Balance(context.Context) (imagegen.Balance, error) {
	return imagegen.Balance{}, errors.New("secret trouble of the disk")
}

// A call of which no answer came is made again, under the same key.
func TestRepetition(t *testing.T) {
	running := imagegentest.Start(t)
	var keys []string
	s := unwell{running.As(imagegentest.Alice), func(q imagegen.GenerateRequest) error {
		if keys = append(keys, q.IdempotencyKey); len(keys) < 3 {
			return imagegen.ErrInternal
		}
		return nil
	}}
	a := over(t, running, s, mcpserver.Options{})
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "32x32"}, nil)
	a.is.Equal(len(keys), 3)
	a.is.True(keys[0] != "" && keys[0] == keys[1] && keys[1] == keys[2])
	a.is.Equal(a.spent(), 1)
}

// Neither a fault nor a panic says what it comes from, or ends the server.
func TestFaults(t *testing.T) {
	running := imagegentest.Start(t)
	s := unwell{running.As(imagegentest.Alice), func(imagegen.GenerateRequest) error { panic("secret trouble") }}
	a := over(t, running, s, mcpserver.Options{})
	for tool, arguments := range map[string]map[string]any{"get_balance": nil, "generate_image": {"prompt": "a fox"}} {
		if message := a.refused(tool, arguments, imagegen.ErrInternal.Message); strings.Contains(message, "secret") {
			t.Errorf("%s tells: %s", tool, message)
		}
	}
	a.call("list_models", nil, nil)
}
