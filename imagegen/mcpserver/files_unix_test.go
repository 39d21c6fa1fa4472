//go:build unix

package mcpserver_test

import (
	"bytes"
	"image"
	_ "image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

// Images are saved under new names, and what was there stays.
func TestSave(t *testing.T) {
	dir, read := directory(t)
	a := alice(t, mcpserver.Options{Dir: dir})
	a.is.NoErr(dir.WriteFile("a-red-fox.png", []byte("mine"), 0o600))
	a.is.NoErr(dir.Mkdir("out", 0o700))
	size := func(file string) image.Point {
		c, _, err := image.DecodeConfig(strings.NewReader(read(file)))
		a.is.NoErr(err)
		return image.Pt(c.Width, c.Height)
	}

	var g seen
	r := a.call("generate_image", map[string]any{"prompt": "A red fox!", "size": "48x32"}, &g)
	a.is.Equal(read("a-red-fox.png"), "mine")
	a.is.Equal(g.Images[0].File, "a-red-fox-2.png")
	a.is.True(strings.Contains(text(r), "saved as a-red-fox-2.png"))
	a.is.Equal(size("a-red-fox-2.png"), image.Pt(48, 32))

	a.call("generate_image", map[string]any{"prompt": "a fox", "n": 2, "size": "48x32", "save_as": "out/fox.png"}, &g)
	a.is.Equal(g.Images[0].File, "out/fox-1.png")
	a.is.Equal(g.Images[1].File, "out/fox-2.png")

	var again seen
	a.call("get_generation", map[string]any{"id": g.ID}, &again)
	a.is.Equal(again.Images[0].File, "")
	a.call("get_generation", map[string]any{"id": g.ID, "save": true}, &g)
	a.is.Equal(g.Images[1].File, "a-fox-2.png")
	a.is.Equal(size("a-fox-2.png"), image.Pt(48, 32))

	absolute := filepath.Join(dir.Name(), "here")
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "48x32", "save_as": absolute}, &g)
	a.is.Equal(g.Images[0].File, "here.png")
}

// No name leads out of the directory, neither to write nor to read, and nothing is charged for the attempt.
func TestOutside(t *testing.T) {
	dir, _ := directory(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.png")
	a := alice(t, mcpserver.Options{Dir: dir})
	a.is.NoErr(os.WriteFile(secret, imagegentest.PNG(8, 8), 0o600))
	a.is.NoErr(os.Symlink(outside, filepath.Join(dir.Name(), "link")))
	a.is.NoErr(os.Symlink(secret, filepath.Join(dir.Name(), "secret.png")))
	a.is.NoErr(syscall.Mkfifo(filepath.Join(dir.Name(), "pipe"), 0o600))
	a.is.NoErr(dir.WriteFile("large", nil, 0o600))
	a.is.NoErr(os.Truncate(filepath.Join(dir.Name(), "large"), imagegen.MaxReferenceBytes+1))
	above := "../" + filepath.Base(outside) + "/secret.png"
	for _, path := range []string{secret, above, "link/secret.png", "secret.png", "pipe", ".", "large", "nothing.png",
		""} {
		message := a.refused("generate_image", map[string]any{"prompt": "a fox", "references": []string{path}})
		if path != secret && strings.Contains(message, outside) {
			t.Errorf("it tells where the directory is linked to: %s", message)
		}
	}
	for _, path := range []string{filepath.Join(outside, "fox"), "../fox", "link/fox", "nowhere/fox", "secret.png/fox",
		"a\x00fox", strings.Repeat("a", 246), strings.Repeat("狐", 82), strings.Repeat("a", 250) + ".png", "a/../" +
			strings.Repeat("a", 300)} {
		a.refused("generate_image", map[string]any{"prompt": "a fox", "save_as": path}, "invalid_request")
	}
	a.is.Equal(a.spent(), 0)
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "48x32", "n": 2, "save_as": strings.Repeat("a",
		245)}, nil) // the longest
	entries, err := os.ReadDir(outside)
	a.is.NoErr(err)
	a.is.Equal(len(entries), 1)
}

// References are files, images and the images of generations.
func TestReferences(t *testing.T) {
	dir, _ := directory(t)
	a := alice(t, mcpserver.Options{Dir: dir})
	a.is.NoErr(dir.WriteFile("den.png", imagegentest.PNG(300, 100), 0o600))
	var first, g seen
	a.call("generate_image", map[string]any{"prompt": "a fox", "n": 2, "size": "48x32"}, &first)
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "48x32",
		"references": []string{"den.png", first.ID, first.Images[0].ID}}, &g)
	made, err := a.As(imagegentest.Alice).Generation(t.Context(), imagegen.GenerationID(g.ID))
	a.is.NoErr(err)
	a.is.Equal(made.ReferenceCount, 1+2+1)

	var failed seen
	a.refused("generate_image", map[string]any{"prompt": "[fake:fail] a fox"})
	var page struct{ Generations []seen }
	a.call("list_generations", map[string]any{"status": "failed"}, &page)
	failed = page.Generations[0]
	a.refused("generate_image", map[string]any{"prompt": "a fox", "references": []string{failed.ID}}, "has no image")
	many := make([]string, 20)
	for i := range many {
		many[i] = first.ID
	}
	a.refused("generate_image", map[string]any{"prompt": "a fox", "references": many}, "invalid_request", "16")
	a.is.NoErr(dir.WriteFile("text.png", bytes.Repeat([]byte("x"), 100), 0o600))
	a.refused("generate_image", map[string]any{"prompt": "a fox", "references": []string{"text.png"}},
		"invalid_request")
}
