package browsertest_test

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var (
	screenshots = flag.String("screenshots", "",
		"write a picture of every page, in every way to look at it, to this `directory`")
	onlyPages     = flag.String("pages", "", "look only at pages whose name matches this `regexp`")
	illustrations = flag.String("illustrations", "", "write the pictures of the documentation to this `directory`")
)

// illustrated are the pages that the documentation shows, down to a height.
var illustrated = map[string]int64{"playground": 1000, "generations": 820, "credits": 1240}

// look is a window in which a page is shown.
type look struct {
	name   string
	scheme string // of colours, that the reader prefers
	width  int64
}

var looks = []look{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 360},
	{"narrow-dark", "dark", 360}, {"768", "light", 768}, {"1024", "light", 1024}, {"1440", "light", 1440},
	{"1920", "dark", 1920}}

// wear gives the tab this look, without animations.
func (t *tab) wear(l look) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	t.do(chromedp.EmulateViewport(l.width, 800),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, media)
			return err
		}))
}

// fits checks that the page is not wider than the window.
func (t *tab) fits(what string) {
	t.Helper()
	outside := evaluate[[]string](t, `document.documentElement.scrollWidth <= innerWidth ? [] :
		[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth)
			.map((e) => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right))`)
	if len(outside) > 0 {
		t.Errorf("%s: wider than the window: %v", what, outside)
	}
}

// shoot takes a picture of the page, down to a height; 0: all of it.
func (t *tab) shoot(l look, height int64) []byte {
	t.Helper()
	if height == 0 {
		height = evaluate[int64](t, `document.documentElement.scrollHeight`)
	}
	t.do(chromedp.EmulateViewport(l.width, height), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
	picture, err := chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
	t.is.NoErr(err)
	return picture
}

// keep writes a screenshot of the page, if screenshots are requested.
func (t *tab) keep(p view, l look) {
	t.Helper()
	if *screenshots != "" {
		t.write(filepath.Join(*screenshots, p.name+"-"+l.name+".png"), t.shoot(l, 0))
	}
}

// illustrate writes the screenshot of a page for the documentation, if that shows the page and screenshots are
// requested.
func (t *tab) illustrate(p view) {
	t.Helper()
	height := illustrated[p.name]
	if height == 0 || *illustrations == "" {
		return
	}
	t.wear(looks[0])
	shot, err := png.Decode(bytes.NewReader(t.shoot(looks[0], height)))
	t.is.NoErr(err)
	pixels := image.NewRGBA(shot.Bounds())
	draw.Draw(pixels, pixels.Rect, shot, image.Point{}, draw.Src)
	for i := range pixels.Pix {
		pixels.Pix[i] |= 1 // which nobody sees, and saves a fifth of the file
	}
	var b bytes.Buffer
	t.is.NoErr((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, pixels))
	t.write(filepath.Join(*illustrations, "console-"+p.name+".png"), b.Bytes())
}

func (t *tab) write(path string, content []byte) {
	t.Helper()
	t.is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
	t.is.NoErr(os.WriteFile(path, content, 0o644))
}

// sized changes the size of the window.
func (t *tab) sized(width, height int64) {
	t.Helper()
	t.do(chromedp.EmulateViewport(width, height))
}
