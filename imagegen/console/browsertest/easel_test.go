package browsertest_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// draws opens the easel with the first reference.
func (t *tab) draws(words string) {
	t.Helper()
	t.click(words)
	t.do(chromedp.WaitReady(chromedp.JSPath(`document.querySelector("#easel:modal .stage")`)))
}

// places returns where in the window the pixels of a picture of this size are.
func (t *tab) places(size image.Point) func(image.Point) (x, y float64) {
	t.Helper()
	at := evaluate[[]float64](t,
		fmt.Sprintf(`(() => { const r = document.querySelector("#easel .ink").getBoundingClientRect(), w = %d, h = %d;
		const s = Math.min(r.width / w, r.height / h); return [r.left + (r.width - w * s) / 2, r.top + (r.height - h * s) / 2, s]; })()`, size.X, size.Y))
	return func(p image.Point) (x, y float64) { return at[0] + float64(p.X)*at[2], at[1] + float64(p.Y)*at[2] }
}

// strokes draws a line with the mouse.
func (t *tab) strokes(size image.Point, from, to image.Point) {
	t.Helper()
	place := t.places(size)
	x, y := place(from)
	x2, y2 := place(to)
	t.do(chromedp.MouseEvent("mousePressed", x, y, chromedp.ButtonType("left"), chromedp.ClickCount(1)),
		chromedp.MouseEvent("mouseMoved", x2, y2, chromedp.ButtonType("left")),
		chromedp.MouseEvent("mouseReleased", x2, y2, chromedp.ButtonType("left"), chromedp.ClickCount(1)))
}

// touches does so with a finger.
func (t *tab) touches(size image.Point, from, to image.Point) {
	t.Helper()
	place := t.places(size)
	touch := func(kind input.DispatchTouchEventType, at ...*input.TouchPoint) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind,
				TouchPoints: at})
			return err
		})
	}
	x, y := place(from)
	x2, y2 := place(to)
	t.do(touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: x, Y: y}),
		touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: x2, Y: y2}),
		touch(input.DispatchTouchEventTypeTouchEnd))
}

// masked is the mask that a provider received.
func (s *site) masked() image.Image {
	s.Helper()
	select {
	case b := <-s.painter.masks:
		m, err := png.Decode(bytes.NewReader(b))
		s.is.NoErr(err)
		return m
	default:
		s.Fatal("no provider was given a mask")
		return nil
	}
}

// anew compares each pixel of a mask with what should be made anew. Each must be either transparent or opaque.
func (s *site) anew(m image.Image, fine func(x, y int, anew bool) bool) {
	s.Helper()
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			_, _, _, a := m.At(x, y).RGBA()
			if (a != 0 && a != 0xffff) || !fine(x, y, a == 0) {
				s.Fatalf("the mask's alpha at %d, %d is %#x", x, y, a)
			}
		}
	}
}

// A mask can be painted on a chosen reference. It is transparent where something was painted and not erased, undone or
// cancelled.
func TestDrawMask(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.lacks("Draw a mask") // on what?
	tab.attach("Reference images", s.reference())
	tab.lacks("Draw a mask") // it is folded until wanted
	tab.unfold("Add a mask")
	size := image.Pt(240, 240)
	tab.draws("Draw a mask")
	tab.click("Done")
	tab.shows("Nothing is painted.")
	evaluate[any](tab, `document.getElementById("brush").value = 10`) // percent: 24 pixels
	tab.strokes(size, image.Pt(20, 20), image.Pt(220, 220))
	tab.click("Clear")
	tab.strokes(size, image.Pt(60, 60), image.Pt(180, 60))
	tab.touches(size, image.Pt(60, 180), image.Pt(180, 180))
	tab.strokes(size, image.Pt(60, 120), image.Pt(180, 120))
	tab.click("Undo")
	tab.shows("The last mark is undone.")
	tab.click("Done")
	tab.shows("Remove the mask", `-F 'mask=@"mask.png"'`)
	tab.draws("Change the mask")
	tab.click("Erase")
	tab.strokes(size, image.Pt(0, 0), image.Pt(240, 240))
	tab.keys(kb.Escape) // as if it had not been
	tab.click("Generate")
	tab.shows("Balance 9", "succeeded")
	s.anew(s.masked(), func(x, y int, anew bool) bool {
		px, py := float64(x)+0.5, float64(y)+0.5
		far := math.Hypot(px-min(max(px, 60), 180), min(math.Abs(py-60), math.Abs(py-180))) // from the nearer line
		// its edge runs through pixels
		return math.Abs(far-12) < 1.5 || anew == (far < 12)
	})

	tab.click("Remove the mask")
	tab.gone("mask.png")
	s.is.Equal(evaluate[int](tab, `document.getElementById("f-mask").files.length`), 0)
}

// Rectangles can be painted and erased by keys alone, on an image of one's own. The mask stays as long as the image is
// the first reference.
func TestDrawMaskByKeys(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 2) // of 320 × 320
	tab := s.signedIn(alice)
	tab.open("playground?result="+string(g.ID), 200)
	tab.fill("Prompt", "The same in autumn")
	tab.click("Use as reference image 1")
	tab.unfold("Add a mask")
	tab.do(chromedp.WaitVisible(labelled("Draw a mask")),
		chromedp.Evaluate[chromedp.Void](`document.getElementById("draw").focus()`))
	tab.keys(kb.Enter)
	tab.do(chromedp.WaitReady(chromedp.JSPath(`document.activeElement.matches("#easel:modal .stage") ? document.body : null`)))
	tab.keys(kb.ArrowLeft + kb.ArrowLeft)
	tab.shows("Rectangle: 20 % from the left, 25 % from the top, 50 % wide, 50 % high.")
	tab.keys(kb.Enter)
	tab.shows("The rectangle is painted.")
	tab.keys("\t\t" + kb.Enter) // Erase
	s.is.Equal(evaluate[string](tab, `document.activeElement.dataset.do + document.activeElement.ariaPressed`),
		"erasetrue")
	tab.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#easel .stage").focus()`))
	tab.do(chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierShift)))
	tab.shows("50 % wide, 45 % high.")
	tab.keys(kb.Enter)
	tab.shows("The rectangle is erased.")
	tab.seen("easel", 720)
	tab.click("Done")
	tab.shows("Change the mask")
	tab.click("Use as reference image 2")
	evaluate[any](tab, `document.querySelector("[aria-label='Move reference 2 forward']").click()`)
	tab.shows("Draw a mask")
	s.is.Equal(evaluate[int](tab, `document.getElementById("f-mask").files.length`), 0)
	evaluate[any](tab, `document.querySelector("[aria-label='Move reference 2 forward']").click()`)
	tab.shows("Change the mask", `mask.png`)
	tab.keep(view{name: "drawn"}, look{"1280-dark", "dark", 1280})
	tab.click("Generate")
	tab.shows("Balance 6", "succeeded")
	m := s.masked()
	s.is.Equal(m.Bounds(), image.Rect(0, 0, 320, 320))
	s.anew(m, func(x, y int, anew bool) bool {
		painted := x >= 64 && x < 224 && y >= 80 && y < 240
		erased := painted && y < 224
		return anew == (painted && !erased)
	})
}

// sideways is a photograph of 320 × 240 whose file has the orientation of a camera held on its side.
func (s *site) sideways() string {
	s.Helper()
	var b bytes.Buffer
	s.is.NoErr(jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 320, 240)), nil))
	const exif = "\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	path := filepath.Join(s.TempDir(), "photo.jpg")
	s.is.NoErr(os.WriteFile(path, append([]byte("\xff\xd8"+exif), b.Bytes()[2:]...), 0o600))
	return path
}

// A mask has the size of the photograph as it is displayed, which the service requires.
func TestDrawMaskOnPhotograph(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.attach("Reference images", s.sideways())
	turned := `(async () => { const i = document.querySelector(".previews img"); await i.decode(); return i.naturalWidth < i.naturalHeight; })()`
	s.is.True(evaluate[bool](tab, turned))
	tab.unfold("Add a mask")
	tab.draws("Draw a mask")
	tab.keys(kb.ArrowLeft + kb.Enter)
	tab.click("Done")
	tab.shows("Remove the mask")
	tab.click("Generate")
	tab.shows("Balance 9", "succeeded")
	s.is.Equal(s.masked().Bounds(), image.Rect(0, 0, 240, 320))
}
