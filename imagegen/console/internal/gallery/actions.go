package gallery

import (
	"archive/zip"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// ConfirmErase asks first, since an erasure cannot be undone.
func ConfirmErase(p *frame.Page, r imagegen.Record) error {
	return p.Render("erase", Tile{Generation: r.Generation()})
}

// Erase erases one of the person's generations for good. Which one it may be was checked by WithEnded: the engine's
// Erase takes any user's.
func Erase(p *frame.Page, r imagegen.Record) error {
	if err := p.Engine.Erase(p.Context(), r.ID); err != nil {
		return err
	}
	return p.RedirectWith("The generation is erased.", "generations")
}

// WithEnded is WithRecord, and refuses a generation that is under way.
func WithEnded(h func(p *frame.Page, r imagegen.Record) error) frame.Handler {
	return WithRecord(func(p *frame.Page, r imagegen.Record) error {
		if !r.Terminal() {
			return imagegen.Invalid("this generation has not ended yet; it can be erased when it has")
		}
		return h(p, r)
	})
}

// SetFavourite marks one of the person's generations as a favourite, or removes the mark. A script gets the new button,
// other browsers are redirected to the generation.
func SetFavourite(p *frame.Page, r imagegen.Record, f *form.Form) error {
	if err := p.Service().SetFavourite(p.Context(), r.ID, f.Value("favourite") != ""); err != nil {
		return err
	}
	if !p.Scripted() {
		return p.Redirect("generations", string(r.ID))
	}
	v, err := ViewOf(p, r.ID)
	if err != nil {
		return err
	}
	return p.RenderBlock("generation", "favourite", v)
}

// Archive answers with a ZIP file of all images of one of the person's generations. Images are compressed already, so
// they are stored as they are: each is copied while it is sent, and none is held in memory. If an image cannot be read,
// the answer is cut off.
func Archive(p *frame.Page, r imagegen.Record) error {
	g := r.Generation()
	if len(g.Images) == 0 {
		return imagegen.ErrNotFound
	}
	p.Writer.Header().Set("Content-Disposition", `attachment; filename="`+string(g.ID)+`.zip"`)
	z := zip.NewWriter(p.Stream("application/zip"))
	for _, i := range Pictures(g) {
		if err := appendImage(p, z, i); err != nil {
			return err
		}
	}
	return z.Close()
}

// appendImage appends an image to an archive.
func appendImage(p *frame.Page, z *zip.Writer, i Picture) error {
	f, err := p.Engine.OpenImage(p.Context(), i.ID)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := z.CreateHeader(&zip.FileHeader{Name: i.FileName, Method: zip.Store, Modified: i.CreatedAt})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
